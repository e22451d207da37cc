"""The input of a simulation: states, forces, events, scenarios, and their validation.

Called, `ph.model(...)`, it is the function `polhode.own_models.model_function.model`, which makes a model with knobs.
"""
