/**
 * Compares the cited tests of the sources with a report: vitest's JSON report has every title that cites, each passed. Deep
 * tests may be missing, since a run takes one share of them: of each clause that they test, another test ran.
 */
import type { Problem } from '../architecture/tree.js';
import { type Citation, idsIn } from './titles.js';

/** The part of the report that is read. */
export interface Report {
  readonly testResults: readonly {
    /** The file's path. */
    readonly name: string;
    readonly assertionResults: readonly {
      readonly ancestorTitles: readonly string[];
      readonly title: string;
      readonly status: string;
      /** In milliseconds. */
      readonly duration?: number;
    }[];
  }[];
}

/** A rule of a port suite that this implementation does not keep: its test passes because the rule is broken. */
const WAIVED = / \(waived: .*\)$/s;

/** A suite that is left out in words, such as one that needs a database where none is installed. CI counts those. */
const LEFT_OUT = / \(skipped: .*\)$/s;

interface Ran {
  readonly file: string;
  readonly titles: readonly string[];
  readonly status: string;
}

/** Every citation ran and passed, and whatever cites in the report is known from the sources. */
export function checkReport(report: Report, citations: readonly Citation[]): readonly Problem[] {
  const ran = report.testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map(({ ancestorTitles, title, status }) => ({
      file: name,
      titles: [...ancestorTitles, title],
      status,
    })),
  );
  const citing = ran
    .filter(({ titles }) => !titles.some((title) => LEFT_OUT.test(title)))
    .filter(({ titles }) => titles.some((title) => idsIn(title).length > 0 && !WAIVED.test(title)));
  return [
    ...citations.flatMap((citation) => notPassed(citation, citing)),
    ...onlyDeep(citations),
    ...unknownTo(citations, citing),
  ];
}

/** Clauses that deep tests alone cite: a change could break them, and its run would not say so. */
export function onlyDeep(citations: readonly Citation[]): readonly Problem[] {
  const always = new Set(citations.filter(({ deep }) => !deep).flatMap(({ ids }) => ids));
  return citations.flatMap(({ ids, file, line }) =>
    ids
      .filter((id) => !always.has(id))
      .map((id) => ({ file, line, what: `only deep tests cite ${id}, and they run in their share alone` })),
  );
}

function notPassed(citation: Citation, ran: readonly Ran[]): readonly Problem[] {
  const { ids, file, line, port, runs, deep } = citation;
  const own = ran.filter(
    (one) => (port || one.file.endsWith(`/${file}`)) && one.titles.some((title) => runs.test(title)),
  );
  const cited = ids.join(', ');
  if (own.length === 0) return deep ? [] : [{ file, line, what: `the test of ${cited} did not run` }];
  return own
    .filter(({ status }) => status !== 'passed')
    .map(({ titles, status }) => ({ file, line, what: `${status}, and cited for ${cited}: ${titles.join(' › ')}` }));
}

function unknownTo(citations: readonly Citation[], ran: readonly Ran[]): readonly Problem[] {
  return ran.flatMap(({ file, titles }) =>
    titles
      .filter((title) => idsIn(title).length > 0 && !citations.some(({ runs }) => runs.test(title)))
      .map((title) => ({ file, line: 1, what: `it cites in a title that cannot be read in its source: ${title}` })),
  );
}
