"""One module a notation or a shape of notations: reading its texts and writing them."""
