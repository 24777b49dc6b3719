"""The web as a server on loopback, behind the real guard with one address more than it takes for public."""

from __future__ import annotations

from typing import Any

from codur.web.access import Web
from tests.web.server import Server
from tests.web.test_guard import Names

ARTICLE = """<!DOCTYPE html><html><head><title>Kestrels</title><script>steal()</script>
<style>p { color: red }</style></head><body><nav><a href="/">Home</a> <a href="/shop">Shop</a></nav>
<article><h1>Kestrels</h1><p>A kestrel is a <b>small falcon</b> that hovers over open country when it hunts for voles,
and is often seen beside roads.</p><ul><li>voles</li><li>beetles</li></ul>
<pre><code>wings = 2</code></pre><p>See also <a href="/falcon">the falcon</a>, which is larger than it.</p></article>
<footer>All rights reserved</footer></body></html>"""

RESULTS = """<html><body><div class="serp__results">
<div class="result results_links"><div class="links_main links_deep result__body">
<h2 class="result__title"><a class="result__a" href="https://birds.example/kestrel">Kestrel facts</a></h2>
<a class="result__snippet" href="https://birds.example/kestrel">The <b>kestrel</b> hovers.</a></div></div>
<div class="result results_links"><div class="links_main links_deep result__body">
<h2 class="result__title"><a class="result__a" href="https://duckduckgo.com/y.js?ad_domain=shop">Buy birds</a></h2>
<a href="https://duckduckgo.com/y.js?ad_domain=shop">An advertisement</a></div></div>
<div class="result results_links"><div class="links_main links_deep result__body">
<h2 class="result__title"><a class="result__a" href="https://wiki.example/Falcon">Falcon\u202e</a></h2>
<a href="https://wiki.example/Falcon">A bird of prey.</a></div></div>
</div></body></html>"""


def web_on(server: Server, **values: Any) -> Web:
    """The web that `server` is the whole of; every name leads to it."""
    given: dict[str, Any] = {
        "ports": {server.port},
        "allowed": lambda address: address == "127.0.0.1",
        "resolve": Names(),
        "search_url": server.url("/html/", host="search.example"),
    }
    return Web(**{**given, **values})
