/** The law of senders: each event of each reducer takes exactly the senders that it declares. */
import { isDeclared, type Kind, kindsOf, type Made } from './kinds.js';
import { type Declared, SenderStage } from './stage.js';

/** What the law tried, and what was other than declared, in words. */
export interface SenderReport {
  readonly cases: number;
  readonly differences: readonly string[];
}

/** Has each kind of sender send an event, to a cell that exists and, where the event makes one, to one that does not. */
export async function trySenders(declared: Declared): Promise<SenderReport> {
  const creates = declared.reducer.events.get(declared.name)?.creates === true;
  const ways: readonly Made[] = creates ? ['by the outside', 'by a cell', 'now'] : ['by the outside', 'by a cell'];
  const reports: SenderReport[] = [];
  for (const made of ways) reports.push(await tryWay(declared, made));
  return sum(reports);
}

async function tryWay(declared: Declared, made: Made): Promise<SenderReport> {
  const { reducer, name, from } = declared;
  await using stage = await SenderStage.open(declared, made);
  const kinds = kindsOf(from, made);
  const differences: string[] = [];
  for (const kind of kinds) {
    const [expected, took] = [isDeclared(from, kind, made), await stage.tries(kind as Kind)];
    if (expected === took) continue;
    differences.push(`${reducer.name}, made ${made}: ${kind} ${took ? 'may' : 'may not'} send ${name}`);
  }
  return { cases: kinds.length, differences };
}

/** Reports together. */
export function sum(reports: readonly SenderReport[]): SenderReport {
  return {
    cases: reports.reduce((cases, report) => cases + report.cases, 0),
    differences: reports.flatMap(({ differences }) => differences),
  };
}
