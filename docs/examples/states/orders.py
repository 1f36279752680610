"""Tools as τ-bench writes them: functions over one dict of data, which is the whole state."""

from functools import partial


def cancel(data, order):
    data["orders"][order]["status"] = "cancelled"
    return data["orders"][order]


def price(data, order):
    return data["orders"][order]["price"]


class Orders:
    def __init__(self):
        self.data = {"orders": {}}

    def set_state(self, data):
        self.data = data

    def state(self):
        return self.data

    @property
    def tools(self):
        return {"cancel": partial(cancel, self.data), "price": partial(price, self.data)}
