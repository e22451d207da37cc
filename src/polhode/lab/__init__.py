"""The lab: a local web page that runs gallery models interactively, or displays one motion."""
