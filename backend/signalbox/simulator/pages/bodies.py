"""The main part of a simulated page, its own style rules and its script, by the kind of page."""

from dataclasses import dataclass
from html import escape

from .wishes import Wish
from .words import Words

# A frame without allow-forms, such as a preview, fires no submit event, so the button and the Enter key send the form.
_ON_SEND = """
    function onSend(form, action) {
      const send = () => { if (form.reportValidity()) action(); };
      form.addEventListener("submit", (event) => event.preventDefault());
      form.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" || event.target.tagName === "BUTTON") return;
        event.preventDefault();
        send();
      });
      form.querySelector("button").addEventListener("click", send);
    }"""


@dataclass(frozen=True, slots=True)
class Body:
    """The links in the header, the HTML inside `main`, the style rules and the script of a kind of page."""

    links: tuple[tuple[str, str], ...]
    html: str
    rules: str
    script: str
    parts: str
    """What the page contains, in words."""


def body_of(wish: Wish, words: Words, images: tuple[str, ...]) -> Body:
    """Return the body of the page that is wished for; `images` are paths of files."""
    made = {"landing": _landing, "dashboard": _dashboard, "tasks": _tasks, "form": _form}[wish.kind](wish, words)
    if not images:
        return made
    shown = "\n".join(f'      <img src="{escape(path)}" alt="{escape(wish.name)}" loading="lazy">' for path in images)
    gallery = f'\n    <section class="gallery cards">\n{shown}\n    </section>'
    return Body(made.links, made.html + gallery, made.rules, made.script, f"{made.parts} and a gallery")


def _hero(name: str, line: str, button: str, target: str) -> str:
    return f"""    <section class="hero">
      <div>
        <h1>{escape(name)}</h1>
        <p class="lead">{escape(line)}</p>
        <a class="button" href="#{target}">{escape(button)}</a>
      </div>
      <div class="art" aria-hidden="true"></div>
    </section>"""


def _landing(wish: Wish, words: Words) -> Body:
    cards = "\n".join(
        f'        <article class="card">\n          <h3>{escape(title)}</h3>\n          <p>{escape(text)}</p>\n'
        "        </article>"
        for title, text in words.features
    )
    html = f"""{_hero(wish.name, words.line, words.button, "about")}
    <section class="features" id="about">
      <h2>Why {escape(wish.name)}</h2>
      <div class="cards">
{cards}
      </div>
    </section>
    <section class="quote">
      <blockquote>“{escape(words.quote)}”</blockquote>
    </section>
    <section class="join card" id="join">
      <h2>Stay in touch</h2>
      <p>One letter a month, with news and nothing else.</p>
      <form>
        <input type="email" placeholder="you@example.org" aria-label="Email address" required>
        <button type="button">Subscribe</button>
      </form>
    </section>"""
    rules = """
    blockquote { margin: 0; color: var(--heading); font: italic 1.5rem/1.4 var(--heading-font); text-align: center; }
    .join form { display: flex; flex-wrap: wrap; gap: 12px; }
    .join input { flex: 1 1 220px; }"""
    script = f"""{_ON_SEND}
    const form = document.querySelector("form");
    onSend(form, () => form.replaceChildren("Thank you! A first letter is on its way."));"""
    links = (("About", "#about"), ("Join", "#join"))
    return Body(links, html, rules, script, "a hero, three features, a quote and a form")


def _dashboard(wish: Wish, words: Words) -> Body:
    numbers = (("Visitors", "12,480", "+8 %"), ("Orders", "642", "+3 %"), ("Revenue", "$ 18,920", "+12 %"))
    cards = "\n".join(
        f'      <article class="card">\n        <p>{label}</p>\n        <strong class="number">{value}</strong>\n'
        f'        <span class="up">{change}</span>\n      </article>'
        for label, value, change in numbers
    )
    html = f"""{_hero(wish.name, "The last seven days at a glance.", "See the chart", "chart")}
    <section class="numbers cards">
{cards}
    </section>
    <section class="card" id="chart">
      <h2>Visitors per day</h2>
      <div class="bars" role="img" aria-label="A bar chart of seven days"></div>
    </section>"""
    rules = """
    .hero { padding: 24px 0; margin: 0; border: 0; background: none; text-align: left; }
    .number { display: block; color: var(--heading); font: 700 2rem/1.3 var(--heading-font); }
    .up { color: var(--accent); font-weight: 600; }
    .bars { display: flex; gap: 12px; align-items: flex-end; height: 220px; }
    .bars i { flex: 1; border-radius: var(--radius) var(--radius) 0 0; background: var(--accent);
      transition: height 0.6s; }
    .bars i:hover { filter: brightness(1.15); }"""
    script = """
    const days = [58, 74, 66, 81, 92, 70, 100];
    const bars = document.querySelector(".bars");
    for (const [index, value] of days.entries()) {
      const bar = document.createElement("i");
      bar.title = `Day ${index + 1}: ${value}`;
      bar.style.height = `${value}%`;
      bars.append(bar);
    }"""
    return Body((("Numbers", "#"), ("Chart", "#chart")), html, rules, script, "three numbers and a bar chart")


def _tasks(wish: Wish, words: Words) -> Body:
    html = f"""{_hero(wish.name, "Write it down, tick it off, and enjoy the rest of the day.", "Add a task", "list")}
    <section class="card" id="list">
      <h2>Today</h2>
      <form>
        <input placeholder="What is next?" aria-label="New task" required>
        <button type="button">Add</button>
      </form>
      <ul></ul>
      <p class="left" role="status"></p>
    </section>"""
    rules = """
    form { display: flex; gap: 12px; margin-bottom: 16px; }
    ul { margin: 0 0 16px; padding: 0; list-style: none; }
    li { display: flex; gap: 12px; align-items: center; padding: 12px 4px; border-bottom: 1px solid var(--line); }
    li span { flex: 1; }
    li.done span { color: var(--soft); text-decoration: line-through; }
    li button { padding: 0.3em 0.8em; background: none; color: var(--soft); }
    input[type="checkbox"] { width: 1.3em; height: 1.3em; accent-color: var(--accent); }"""
    script = (
        _ON_SEND
        + """
    const list = document.querySelector("ul");
    const left = document.querySelector(".left");
    const update = () => { left.textContent = `${list.querySelectorAll("li:not(.done)").length} left`; };
    function add(text, done = false) {
      const item = document.createElement("li");
      item.className = done ? "done" : "";
      item.innerHTML = '<input type="checkbox" aria-label="Done"><span></span><button aria-label="Remove">×</button>';
      item.querySelector("span").textContent = text;
      item.querySelector("input").checked = done;
      item.querySelector("input").onchange = () => { item.classList.toggle("done"); update(); };
      item.querySelector("button").onclick = () => { item.remove(); update(); };
      list.append(item);
      update();
    }
    const field = document.querySelector("form input");
    onSend(field.form, () => {
      add(field.value);
      field.value = "";
    });
    add("Water the plants");
    add("Answer two letters");
    add("Open this page", true);"""
    )
    return Body((("List", "#list"),), html, rules, script, "a list in which tasks can be added, ticked off and removed")


def _form(wish: Wish, words: Words) -> Body:
    html = f"""{_hero(wish.name, words.line, "Fill in the form", "form")}
    <section class="card" id="form">
      <h2>Your details</h2>
      <form>
        <label>Name <input name="name" autocomplete="name" required></label>
        <label>Email <input name="email" type="email" autocomplete="email" required></label>
        <label>Password <input name="password" type="password" minlength="8" required></label>
        <button type="button">Continue</button>
      </form>
      <p class="status" role="status"></p>
    </section>"""
    rules = """
    form { display: grid; gap: 16px; max-width: 420px; }
    label { display: grid; gap: 6px; color: var(--soft); font-weight: 600; }
    .status { margin-top: 16px; color: var(--accent); font-weight: 600; }"""
    script = (
        _ON_SEND
        + """
    const form = document.querySelector("form");
    onSend(form, () => {
      document.querySelector(".status").textContent = `Welcome, ${new FormData(form).get("name")}!`;
      form.reset();
    });"""
    )
    return Body((("Form", "#form"),), html, rules, script, "a form that checks its fields")
