/** The table of `docs/reference/conformance.md`, made from the scenarios. */
import { SCENARIOS } from './index.js';
import { PROFILE_NAMES } from './profiles.js';
import { tapeOf } from './run-scenario.js';
import type { Scenario } from './scenario.js';

const BETWEEN = /(<!-- scenarios -->\n)[\s\S]*?(\n<!-- end of scenarios -->)/;

/**
 * A page with the table in its place.
 *
 * @throws Error when it has no place for it
 */
export function withScenarios(page: string): string {
  if (!BETWEEN.test(page)) throw new Error('the page has no place for the scenarios');
  return page.replace(BETWEEN, (_, begin: string, end: string) => `${begin}\n${scenarioTable()}\n${end}`);
}

function scenarioTable(): string {
  const rows = SCENARIOS.map((scenario) => [
    `\`${scenario.name}\``,
    scenario.shows,
    endOf(scenario),
    String(PROFILE_NAMES.reduce((sum, profile) => sum + tapeOf(profile, scenario.name).length, 0)),
  ]);
  const head = ['scenario', 'what it shows', 'its run ends', 'recorded exchanges'];
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function endOf({ ends: { stop }, afterCrash }: Scenario): string {
  const detail =
    stop.kind === 'Failed' ? ` \`${stop.code}\`` : stop.kind === 'LimitsExceeded' ? ` \`${stop.limit}\`` : '';
  return `${stop.kind}${detail}${afterCrash === undefined ? '' : ` (after a crash: ${afterCrash.because})`}`;
}
