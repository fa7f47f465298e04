/** The results of a target, in words and figures. */
import path from 'node:path';
import { type Mutant, ROOT } from './bundle.js';
import type { Verdict } from './trial.js';

/** The numbers of all mutants, of tried ones, and of each verdict. */
export type Outcome = { readonly mutants: number; readonly judged: number } & Readonly<Record<Verdict, number>>;

/** The head of a table of outcomes. */
export const TABLE_HEAD =
  '| sources | mutants | tried | killed | timeout | survived | no coverage | score |\n|---|---|---|---|---|---|---|---|';

/** A row of it. Where not all were tried, the score is that of a random sample: ± is two standard errors. */
export function rowOf(name: string, outcome: Outcome): string {
  const { mutants, judged, killed, timeout, survived } = outcome;
  const error = judged < mutants ? ` ± ${percent(2 * Math.sqrt(varianceOf(outcome)))}` : '';
  const shown = `${percent(scoreOf(outcome))}${error}`;
  const figures = [name, mutants, judged, killed, timeout, survived, outcome['no coverage'], shown];
  return `| ${figures.join(' | ')} |`;
}

/**
 * The share of all mutants of several sources that is found. Each is a sample of its own and counts by how many mutants
 * it has, not by how many of them were tried.
 */
export function totalOf(outcomes: readonly Outcome[]): string {
  const all = outcomes.reduce((sum, { mutants }) => sum + mutants, 0);
  const score = outcomes.reduce((sum, each) => sum + (each.mutants / all) * scoreOf(each), 0);
  const variance = outcomes.reduce((sum, each) => sum + (each.mutants / all) ** 2 * varianceOf(each), 0);
  return `${percent(score)} ± ${percent(2 * Math.sqrt(variance))} of ${all} mutants`;
}

const scoreOf = ({ killed, timeout, judged }: Outcome) => (killed + timeout) / judged;

/** Of a score: none where all mutants were tried. */
function varianceOf(outcome: Outcome): number {
  const score = scoreOf(outcome);
  return ((score * (1 - score)) / outcome.judged) * (1 - outcome.judged / outcome.mutants);
}

const percent = (share: number) => `${(share * 100).toFixed(1)} %`;

/** The place and the change of a mutant, in one line. */
export function whereOf({ fileName, location, mutatorName, replacement }: Mutant): string {
  const place = `${path.relative(ROOT, fileName)}:${location.start.line + 1}:${location.start.column + 1}`;
  const end = `${location.end.line + 1}:${location.end.column + 1}`;
  return `${place}-${end} ${mutatorName} → ${replacement.replace(/\s+/g, ' ').slice(0, 120)}`;
}
