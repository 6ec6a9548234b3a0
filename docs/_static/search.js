// The search of this site. Sphinx's shows only pages that have every word of a question; here a page needs one of them.
// Rare words count more than common ones, and they count most together: in one title, in one heading, or in one main
// entry of the index, as which a page may carry questions (```{index} ! how to choose epsilon```).
document.addEventListener("DOMContentLoaded", () => {
  if (typeof Search === "undefined") return; // not the page of the search
  const asking = new Set(
    ("about am any can could did do does from get got have how i if me my our should so there use want we what when " +
      "where which who why would you your").split(" "),
  );
  const stemmer = new Stemmer();
  const words = (text) => {
    const all = splitQuery(text.toLowerCase());
    const telling = all.filter((word) => !asking.has(word) && !stopwords.has(word));
    return new Set((telling.length ? telling : all).map((word) => stemmer.stemWord(word)));
  };
  const DETAIL = /^(reference\/|records\/|gallery\/|development|changes)/; // found after pages that explain

  Search._performSearch = (query, _terms, excluded, _highlighted, objectTerms) => {
    const { docnames, filenames, titles, alltitles, indexentries, terms } = Search._index;
    const pages = (word) => {
      if (Object.hasOwn(terms, word)) return new Set([terms[word]].flat());
      const longer = word.length > 2 ? Object.keys(terms).filter((term) => term.startsWith(word)) : [];
      return new Set(longer.flatMap((term) => terms[term]));
    };
    const named = /\w[._]\w|[a-z][A-Z]/.test(query); // it seems to have a name of the package
    const plain = query.replace(/(^|\s)-\S+/g, " ");
    const asked = new Map([...words(plain)].map((word) => [word, pages(word)]));
    const weigh = (found) => Math.log(1 + docnames.length / (1 + found.size));
    const weights = new Map([...asked].map(([word, found]) => [word, weigh(found)]));
    const total = [...weights.values()].reduce((sum, weight) => sum + weight, 0);

    const best = docnames.map(() => ({ together: 0, anchor: "", heading: "" }));
    const look = (text, page, anchor, heading, factor) => {
      let both = 0, whole = 0;
      for (const word of words(text)) {
        both += weights.get(word) ?? 0;
        whole += weights.get(word) ?? weigh(pages(word));
      }
      const together = both && (factor * both * both) / (total * whole);
      if (together > best[page].together) best[page] = { together, anchor: anchor ? `#${anchor}` : "", heading };
    };
    for (const [title, places] of Object.entries(alltitles))
      for (const [page, anchor] of places) {
        const own = title === titles[page];
        look(title, page, own ? "" : anchor, own ? "" : title, own ? 1.1 : 0.9);
      }
    for (const [entry, places] of Object.entries(indexentries))
      for (const [page, anchor, main] of places) if (main) look(entry, page, anchor, "", 1.2);

    const avoided = [...excluded].map(pages);
    const results = [];
    docnames.forEach((name, page) => {
      const said = [...asked].reduce((sum, [word, found]) => sum + (found.has(page) ? weights.get(word) : 0), 0);
      const { together, anchor, heading } = best[page];
      const score = (said / total + 2 * together) * (DETAIL.test(name) && !named ? 0.5 : 1);
      if (!(score > 0.25) || avoided.some((found) => found.has(page))) return;
      const title = heading ? `${titles[page]} > ${heading}` : titles[page];
      results.push([name, title, anchor, null, score, filenames[page], SearchResultKind.text]);
    });

    for (const term of objectTerms)
      for (const result of Search.performObjectSearch(term, objectTerms)) {
        const exact = result[1].toLowerCase().split(".").at(-1) === term;
        const member = /attribute|method|property/.test(result[3]);
        result[4] = (exact ? 1 : 0.1) * (member ? 0.3 : 1) * (named ? 4 : 0.6);
        results.push(result);
      }
    const seen = new Set();
    results.sort((a, b) => b[4] - a[4] || a[1].localeCompare(b[1]));
    const once = results.filter(([name, title, anchor]) => {
      const key = `${name} ${title} ${anchor}`;
      return !seen.has(key) && seen.add(key);
    });
    return once.reverse(); // Sphinx shows the last one first
  };
});
