"""The page on which a motion is watched: what it shows, and the one file that holds it all."""
