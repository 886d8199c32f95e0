'use strict';
/* Tables that sort by a click on a heading, and filter where they are long. The page has everything
   without this. */
(function () {
  var number = /^([-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?)(?: ?([KMGT])iB)?/;
  var units = { K: 1024, M: 1048576, G: 1073741824, T: 1099511627776 };
  function key(cell) {
    var text = cell ? cell.textContent.trim() : '';
    var found = text.replace('\u2212', '-').match(number);
    return { text: text, value: found ? Number(found[1]) * (units[found[2]] || 1) : NaN };
  }
  function order(a, b) {
    if (isNaN(a.value) !== isNaN(b.value)) { return isNaN(a.value) ? 1 : -1; }
    return isNaN(a.value) ? a.text.localeCompare(b.text) : a.value - b.value;
  }
  function sort(table, heading, column) {
    var down = heading.getAttribute('aria-sort') === 'ascending';
    var rows = Array.from(table.tBodies[0].rows).map(function (row) {
      return { row: row, key: key(row.cells[column]) };
    });
    rows.sort(function (a, b) { return down ? order(b.key, a.key) : order(a.key, b.key); });
    Array.from(table.tHead.rows[0].cells).forEach(function (cell) {
      cell.removeAttribute('aria-sort');
    });
    heading.setAttribute('aria-sort', down ? 'descending' : 'ascending');
    rows.forEach(function (entry) { table.tBodies[0].appendChild(entry.row); });
  }
  function filter(table) {
    var input = document.createElement('input');
    input.type = 'search';
    input.placeholder = 'filter rows';
    input.setAttribute('aria-label', 'filter rows');
    input.className = 'filter';
    input.addEventListener('input', function () {
      var words = input.value.toLowerCase().split(' ');
      Array.from(table.tBodies[0].rows).forEach(function (row) {
        var text = row.textContent.toLowerCase();
        row.hidden = !words.every(function (word) { return text.includes(word); });
      });
    });
    table.parentNode.insertBefore(input, table);
  }
  document.querySelectorAll('main table:not(.matrix)').forEach(function (table) {
    if (!table.tHead || table.tBodies[0].rows.length === 1) { return; }
    Array.from(table.tHead.rows[0].cells).forEach(function (heading, column) {
      if (heading.textContent.trim() === '') { return; }
      heading.tabIndex = 0;
      heading.className += ' sorts';
      heading.addEventListener('click', function () { sort(table, heading, column); });
      heading.addEventListener('keydown', function (event) {
        if (event.key === 'Enter') { sort(table, heading, column); }
      });
    });
    if (table.tBodies[0].rows.length >= 12) { filter(table); }
  });
  function open() {
    var target = location.hash ? document.getElementById(location.hash.slice(1)) : null;
    var folded = false;
    for (var at = target; at; at = at.parentElement) {
      if (at.tagName.toLowerCase() === 'details' && !at.open) { at.open = folded = true; }
    }
    if (folded) { target.scrollIntoView({ block: 'center' }); }
  }
  window.addEventListener('hashchange', open);
  open();
}());
