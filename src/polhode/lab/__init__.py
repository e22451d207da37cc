"""The lab: a page on this machine on which models are run by turning their knobs, or one motion is watched."""
