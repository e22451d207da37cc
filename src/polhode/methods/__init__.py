"""Integration methods: tableaus, their steps, dense output, and the registry that says what each can do."""
