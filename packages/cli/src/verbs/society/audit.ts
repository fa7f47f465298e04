/** `reprise society audit`: every agent of a world as the journal shows it, and what does not hold of it. */
import { isBelow } from '@reprise/agent';
import { actorWords } from '@reprise/contracts';
import type { ReadonlyStore } from '@reprise/kernel';
import { shortKey } from '@reprise/operators/names';
import { AUDIT_PROBLEMS, type AuditedAgent, type AuditProblem, type AuditReport, auditSociety } from '@reprise/society';
import { EXIT, type ExitCode } from '../../process/exit.js';
import type { Io } from '../../process/io.js';
import { escapeLine } from '../../text/escape.js';
import { toJson } from '../../text/json.js';
import { timeOf } from '../../text/record-line.js';
import { withWorld } from '../../world/open.js';
import { hostTroubles, type ShownTrouble, shownTrouble } from '../../world/troubles.js';

/** Audits the society of a world. @returns a finding when there is one */
export async function audit(io: Io, world: string, options: { readonly json?: true }): Promise<ExitCode> {
  const { report, troubles } = await withWorld(world, async (store) => {
    const found = await auditSociety(store);
    return { report: found, troubles: await troublesOf(store, world, found) };
  });
  const lines =
    options.json === true
      ? [toJson({ ...report, trouble: troubles.map(({ data }) => data) })]
      : [...linesOf(world, report), ...troubles.map(({ line }) => `trouble: ${line}`)];
  await io.out.write(lines.map((line) => `${escapeLine(options.json === true ? line : shortKey(line))}\n`).join(''));
  return report.problems.length === 0 ? EXIT.ok : EXIT.finding;
}

/** What the process that has the world open says, but for services that only others wait for. */
async function troublesOf(
  store: ReadonlyStore,
  world: string,
  { people, agents }: AuditReport,
): Promise<readonly ShownTrouble[]> {
  const isOurs = isBelow([...people.map(({ entity_id }) => entity_id), ...agents.map(({ agent_id }) => agent_id)]);
  const all = (await hostTroubles(store, world)).map(shownTrouble);
  return all.filter(({ cells }) => cells.length === 0 || cells.some(isOurs));
}

function linesOf(
  world: string,
  { head, people, agents, unused_keys, failed_cells, problems }: AuditReport,
): readonly string[] {
  const found = problems.length === 0 ? 'no problem' : counted(problems.length, 'problem');
  return [
    `${world}: ${found}`,
    ...problems.map(lineOfProblem),
    ...agents.flatMap(linesOfAgent),
    ...failed_cells.map(({ cell, code, failed }) => `FAILED: ${cell}, ${code} in frame ${failed.seq}`),
    ...unused_keys.map(({ agent_id, seq, destroyed }) => {
      const now = destroyed === null ? 'destroyed when its vault is opened' : `destroyed in frame ${destroyed.seq}`;
      return `key ${short(agent_id)} of frame ${seq}: its registration was refused; ${now}`;
    }),
    `${counted(people.length, 'person', 'people')}, ${counted(agents.length, 'agent')}, ${counted(head.seq + 1, 'frame')}`,
    `head sha256:${short(head.digest)}`,
  ];
}

function lineOfProblem({ code, agent_id, seq, i, expected, actual }: AuditProblem): string {
  const of = agent_id === null ? '' : ` ${short(agent_id)}`;
  const values = `expected ${toJson(expected, { shortLinks: true })}, got ${toJson(actual, { shortLinks: true })}`;
  return `${seq}.${i}${of} ${code}: ${AUDIT_PROBLEMS[code]}; ${values}`;
}

function linesOfAgent(agent: AuditedAgent): readonly string[] {
  const { agent_id, display_name, agent_type, parent_entity_id, made, status, key, proofs, rights, use } = agent;
  const begun = `made in frame ${made.seq} (${timeOf(made.at)}) by ${nameOf(parent_entity_id)}`;
  const allowed = use.effects.reduce((sum, one) => sum + one.allowed, 0);
  const denied = use.denied.reduce((sum, { times }) => sum + times, 0);
  const refused = agent.refused_rights.length;
  return [
    `${short(agent_id)} ${display_name} [${status}] ${agent_type}, ${begun}`,
    `  key: ${keyWords(key)}; ${counted(proofs.length, 'proof')}`,
    `  rights: set ${counted(rights.length, 'time')}, last in frame ${rights.at(-1)?.seq ?? '–'}${refused === 0 ? '' : `; refused ${counted(refused, 'time')}`}`,
    `  hot context: ${linkWords(agent)}`,
    `  use: ${counted(allowed, 'effect')} allowed, ${denied} denied`,
    ...agent.statuses.map((change) => {
      const { seq, old, new: next, reason } = change;
      return `  ${seq}: ${old} → ${next}, ${reason}${byWords(change)}`;
    }),
  ];
}

/** Who changed a status: the entity above, and who acted in its name where that is another. */
function byWords({ by, actor }: AuditedAgent['statuses'][number]): string {
  const entity = by === null ? '' : nameOf(by);
  const acted = actor === null ? '' : actorWords(actor);
  if (acted === '' || acted === entity) return entity === '' ? '' : ` by ${entity}`;
  return ` by ${acted}${entity === '' ? '' : ` for ${entity}`}`;
}

function keyWords({ key_ref, proved, destroyed }: AuditedAgent['key']): string {
  const from = key_ref === null ? 'brought by the agent' : 'made here';
  const where = proved === null ? ', not proved' : ` in frame ${proved.seq}`;
  return `${from}${where}${destroyed === null ? '' : `, destroyed in frame ${destroyed.seq}`}`;
}

function linkWords({ links }: AuditedAgent): string {
  const last = links.at(-1);
  if (last === undefined) return 'none';
  return `version ${last.version}, ${counted(last.session_count, 'session')}, chain ${last.chain_hash.slice(0, SHORT)}`;
}

const SHORT = 12;

function short(agent: string): string {
  return agent.slice(0, SHORT);
}

/** A person by the name, an agent by the beginning of its id. */
function nameOf(entity: string): string {
  return /^[0-9a-f]{64}$/.test(entity) ? short(entity) : entity;
}

function counted(n: number, one: string, more = `${one}s`): string {
  return `${n} ${n === 1 ? one : more}`;
}
