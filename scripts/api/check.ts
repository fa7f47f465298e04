/** The rules of the public API, as data, and their checks. Tests: `scripts/test/api.test.ts`. */
import type { Entry } from './entries.js';

/** The most names that an entry may have. An app author reads all of them. */
export const NAMES_MAX: Readonly<Record<string, number>> = {
  // 48 since 2026-11-28, with who decided (Decided), who acted (Actor) and its words (actorWords).
  reprise: 48,
  // 48 since 2026-11-29, with what the author of a client needs: it had an entry of its own.
  'reprise/providers': 48,
  // 17 since 2026-11-29: a program could not export what recordingContext() and reduce() give.
  'reprise/testing': 19,
};

/** Entries with more names than their bound. */
export function crowded(entries: readonly Entry[], bounds = NAMES_MAX): readonly string[] {
  return Object.entries(bounds).flatMap(([specifier, max]) => {
    const names = entries.find((entry) => entry.specifier === specifier)?.offers.length;
    if (names === undefined) return [`${specifier}: there is no such entry`];
    return names <= max ? [] : [`${specifier}: ${names} names, at most ${max}; move some to another entry`];
  });
}

/**
 * Entries that pass on the names of a package that may not be installed: a static `export … from` could not say in words
 * that it is missing. What they declare is that package's own.
 */
const PASSED_ON = /^packages\/reprise\/src\/testing\/\w+\.ts#/;

/** Names under which two entries offer different things. */
export function homonyms(entries: readonly Entry[]): readonly string[] {
  const places = new Map<string, Map<string, string>>();
  for (const { specifier, offers } of entries) {
    for (const { name, declared } of offers) {
      const known = places.get(name) ?? new Map<string, string>();
      const isPassedOn = PASSED_ON.test(declared) && entries.some((one) => offersOfTestkit(one, name));
      places.set(name, isPassedOn ? known : known.set(declared, specifier));
    }
  }
  return [...places]
    .filter(([, known]) => known.size > 1)
    .map(([name, known]) => `${name}: ${[...known].map(([declared, at]) => `${declared} in ${at}`).join(', ')}`);
}

function offersOfTestkit({ specifier, offers }: Entry, name: string): boolean {
  return specifier.startsWith('@reprise/testkit') && offers.some((offer) => offer.name === name);
}

/** Values that neither the code of a page nor an example names. */
export function unused(entries: readonly Entry[], texts: ReadonlyMap<string, string>): readonly string[] {
  const words = new Set<string>();
  for (const [file, text] of texts) {
    for (const code of file.endsWith('.md') ? codeOf(text) : [text]) {
      for (const [word] of code.matchAll(/[A-Za-z_$][\w$]*/g)) words.add(word);
    }
  }
  return entries.flatMap(({ specifier, offers }) =>
    offers.filter(({ isValue, name }) => isValue && !words.has(name)).map(({ name }) => `${specifier}: ${name}`),
  );
}

/** Code blocks and code spans of a page. */
function codeOf(page: string): readonly string[] {
  return [...page.matchAll(/^```[\s\S]*?^```|`[^`\n]+`/gm)].map(([code]) => code);
}
