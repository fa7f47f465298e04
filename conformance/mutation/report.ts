/** What came of a target, in words and figures. */
import path from 'node:path';
import { type Mutant, ROOT } from './bundle.js';
import type { Verdict } from './trial.js';

/** How many mutants there are, how many were tried, and what became of them. */
export type Outcome = { readonly mutants: number; readonly judged: number } & Readonly<Record<Verdict, number>>;

/** The head of a table of outcomes. */
export const TABLE_HEAD =
  '| sources | mutants | tried | killed | timeout | survived | no coverage | score |\n|---|---|---|---|---|---|---|---|';

/** A row of it. Where not all were tried, the score is that of a random sample: ± is two standard errors. */
export function rowOf(name: string, outcome: Outcome): string {
  const { mutants, judged, killed, timeout, survived } = outcome;
  const score = (killed + timeout) / judged;
  const error = 2 * Math.sqrt(((score * (1 - score)) / judged) * (1 - judged / mutants));
  const shown = `${percent(score)}${judged < mutants ? ` ± ${percent(error)}` : ''}`;
  const figures = [name, mutants, judged, killed, timeout, survived, outcome['no coverage'], shown];
  return `| ${figures.join(' | ')} |`;
}

const percent = (share: number) => `${(share * 100).toFixed(1)} %`;

/** Where a mutant is and what it says, in one line. */
export function whereOf({ fileName, location, mutatorName, replacement }: Mutant): string {
  const place = `${path.relative(ROOT, fileName)}:${location.start.line + 1}:${location.start.column + 1}`;
  const end = `${location.end.line + 1}:${location.end.column + 1}`;
  return `${place}-${end} ${mutatorName} → ${replacement.replace(/\s+/g, ' ').slice(0, 120)}`;
}
