/** URIs with names in braces: `notes://{author}`. A name stands for a text without `/`, `?` and `#`. */

/** Whether a URI is a template. */
export function isTemplate(uri: string): boolean {
  return uri.includes('{');
}

/** Whether a URI is one that a template, or a URI without names, stands for. Linear in the URI. */
export function matches(template: string, uri: string): boolean {
  const fixed = template.split(/\{[^{}]*\}/);
  const [first = '', ...rest] = fixed;
  if (!uri.startsWith(first)) return false;
  if (rest.length === 0) return uri === first;
  let at = first.length;
  for (const [i, part] of rest.entries()) {
    const end = nameEnd(uri, at);
    // The text after a name begins where the name can end last, so that a name is as long as it can be.
    const found = i === rest.length - 1 && part === '' ? end : uri.lastIndexOf(part, end);
    if (found <= at - 1 || found === at || found > end) return false;
    at = found + part.length;
  }
  return at === uri.length;
}

function nameEnd(uri: string, from: number): number {
  const rest = uri.slice(from);
  const stop = rest.search(/[/?#]/);
  return stop < 0 ? uri.length : from + stop;
}
