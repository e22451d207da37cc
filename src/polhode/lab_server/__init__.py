"""The lab: a local web page that runs models interactively, or displays one motion."""
