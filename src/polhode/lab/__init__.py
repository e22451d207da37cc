"""The lab: a local web page that runs models interactively, or displays one motion.

Called, `ph.lab(...)`, it is the function `polhode.lab.open_lab.lab`, which opens the page.
"""
