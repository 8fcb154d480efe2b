"""One case of each domain: a release, what the adversary knows, an attack and the truth -> rows and facts.

`audit` runs the standard cases of a release, `study` the cases of a plan: both through the modules of this package, one
file a domain.
"""
