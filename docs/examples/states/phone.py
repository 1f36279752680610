"""Tools as ToolSandbox writes them: functions of a module over one context that they share."""

CONTEXT = {"wifi": True, "sent": []}


def set_state(context):
    CONTEXT.clear()
    CONTEXT.update(context)


def state():
    return CONTEXT


def set_wifi(on):
    CONTEXT["wifi"] = on
    return on


def send(text):
    if not CONTEXT["wifi"]:
        raise ConnectionError("the phone is offline")
    CONTEXT["sent"].append(text)
    return len(CONTEXT["sent"])
