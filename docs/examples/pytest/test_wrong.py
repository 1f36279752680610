import planner_eval as pe


def test_the_wrong_train() -> None:
    pred = 't = search_train(start="Rome", to="Turin")\nbook(ticket=t[0], seats=2)\ncancel(ticket=t[1])'
    gold = 't = search_train(start="Rome", to="Milan")\nbook(ticket=t[0], seats=2)'
    pe.assert_same(pred, gold)
