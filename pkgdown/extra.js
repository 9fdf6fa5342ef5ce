// Search over all pages. The index is a script, search-index.js, so that the site also works from a folder of files.
(function () {
  "use strict";
  var root = document.currentScript.getAttribute("data-root") || "";

  function words(text) {
    return text.toLowerCase().split(/[^a-z0-9_.]+/).filter(function (word) { return word.length > 1; });
  }

  // How well an entry fits: each word must be found. Names of pages count most, then headings, then text.
  function score(entry, wanted) {
    var sum = 0;
    for (var i = 0; i < wanted.length; i++) {
      var word = wanted[i];
      var points = 0;
      if (entry.name.indexOf(word) >= 0) points += entry.name === word ? 40 : 12;
      if (entry.title.toLowerCase().indexOf(word) >= 0) points += 8;
      if (entry.what.toLowerCase().indexOf(word) >= 0) points += 4;
      if (entry.text.indexOf(word) >= 0) points += 1;
      if (points === 0) return 0;
      sum += points;
    }
    return sum;
  }

  function start() {
    var input = document.getElementById("search-input");
    if (!input) return;
    var list = document.createElement("div");
    list.className = "found";
    list.hidden = true;
    input.parentNode.appendChild(list);
    input.setAttribute("aria-label", "Search");
    input.form.addEventListener("submit", function (event) { event.preventDefault(); });

    input.addEventListener("focus", function () {
      if (window.siteIndex || document.getElementById("search-index")) return;
      var script = document.createElement("script");
      script.id = "search-index";
      script.src = root + "search-index.js";
      script.onload = show;
      document.head.appendChild(script);
    });

    function show() {
      var wanted = words(input.value);
      list.textContent = "";
      list.hidden = wanted.length === 0 || !window.siteIndex;
      if (list.hidden) return;
      var hits = window.siteIndex.map(function (entry) { return [score(entry, wanted), entry]; })
        .filter(function (hit) { return hit[0] > 0; })
        .sort(function (a, b) { return b[0] - a[0]; })
        .slice(0, 15);
      hits.forEach(function (hit) {
        var entry = hit[1];
        var link = document.createElement("a");
        link.href = root + entry.path + (entry.id ? "#" + entry.id : "");
        link.textContent = entry.title;
        if (entry.what !== entry.title) {
          var small = document.createElement("small");
          small.textContent = entry.what;
          link.appendChild(small);
        }
        list.appendChild(link);
      });
      if (!hits.length) {
        var nothing = document.createElement("p");
        nothing.textContent = "No page has all of these words.";
        list.appendChild(nothing);
      }
    }

    input.addEventListener("input", show);
    input.addEventListener("keydown", function (event) {
      var links = list.querySelectorAll("a");
      if (event.key === "Escape") list.hidden = true;
      if (event.key === "Enter" && links.length) links[0].click();
    });
    document.addEventListener("click", function (event) {
      if (!input.form.contains(event.target)) list.hidden = true;
    });
  }

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
