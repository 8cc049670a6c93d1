"""A script that ends with an exception nobody catches."""

import work

work.small(100)
raise ValueError("the loss is not a number")
