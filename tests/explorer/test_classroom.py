"""Links with which a teacher poses a question and hides settings."""

from browsing import follow, settings, settled, some_rooms, text

from posenc.explorer.rooms import ROOMS


def test_a_question_and_hidden_settings(visit):
    tab = visit("/waves#v=1&ask=Which+column+is+slowest%3F&hide=encoding,dim,mistake")
    assert text(tab, "#asked") == "Which column is slowest?"
    for hidden in ("#encoding", "#dim", "#dim-slider", "#mistake"):
        assert not tab.locator(hidden).is_visible()
    assert tab.locator("#base").is_visible()
    assert text(tab, "#notice") == ""
    tab.focus("#position-slider")
    tab.keyboard.press("ArrowRight")  # playing leaves the question there
    settled(tab)
    assert "hide=encoding,dim,mistake" in tab.url
    tab.locator("#classroom summary").click()
    tab.click("text=Show all settings")
    settled(tab)
    assert tab.locator("#dim").is_visible()
    assert tab.locator("#encoding").is_visible()
    assert text(tab, "#asked") == "Which column is slowest?"
    assert "hide" not in tab.url


def test_a_link_is_made(visit):
    tab = visit("/waves")
    tab.locator("#classroom summary").click()
    tab.fill("#ask", "What <b>changes</b>?")
    tab.press("#ask", "Enter")
    settled(tab)
    assert tab.locator("#asked").inner_text() == "What <b>changes</b>?"
    tab.get_by_label("Positions shown").last.check()
    settled(tab)
    assert not tab.locator("#count").is_visible()
    read = settings(tab)
    assert read["hide"] == ["count"]
    tab = visit(tab.url.removeprefix(tab.evaluate("location.origin")))
    assert settings(tab) == read
    assert tab.locator("#asked").inner_text() == "What <b>changes</b>?"
    assert not tab.locator("#count").is_visible()


def test_names_with_digits_can_be_hidden(visit):
    tab = visit("/waves#v=1&hide=p2c_index,inter.dim,dim")
    assert text(tab, "#notice") == ""
    assert settings(tab)["hide"] == ["p2c_index", "inter.dim", "dim"]
    follow(tab, "v=1&hide=DIM!")
    assert "hide must be names of settings" in text(tab, "#notice")


def test_a_long_question_is_cut(visit):
    tab = visit("/waves#v=1&ask=" + "x" * 500)
    assert text(tab, "#asked") == "x" * 300


def test_a_group_without_fields_is_not_shown(visit):
    tab = visit("/waves#v=1&hide=count,from")
    assert not tab.locator(".group.table").is_visible()
    follow(tab, "v=1&hide=count")
    assert tab.locator(".group.table").is_visible()


@some_rooms
def test_every_setting_of_a_room_can_be_hidden(visit, room):
    own = [control["name"] for control in ROOMS[room].controls]
    tab = visit(f"/{room}#v=1&hide={','.join(own)}")
    assert text(tab, "#notice") == ""
    for name in own:
        field = tab.locator(f"#groups #{name}, #groups [name={name}]").first
        assert not field.is_visible()
