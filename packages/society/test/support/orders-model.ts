/**
 * What the rules of a society let agents do after an order of changes, as far as a table of four rows says it: membership and
 * role, emergency mode and end of the group, status, and tools. It shares no code with the society, and knows of no failures:
 * what it does not permit is permitted to nobody, whatever failed and was revived meanwhile.
 */
import { AGENTS, DONE, GROUPS, type Step } from './orders.js';

type AgentName = (typeof AGENTS)[number];
type GroupName = (typeof GROUPS)[number];

interface Row {
  readonly roles: Map<string, 'viewer' | 'member'>;
  off: boolean;
  tools: readonly string[] | null;
  seesGroups: boolean;
}

/** What agents may do. */
export class Model {
  readonly #rows = new Map<AgentName, Row>(
    AGENTS.map((name) => [
      name,
      { roles: new Map(GROUPS.map((one) => [one, 'member'])), off: false, tools: null, seesGroups: true },
    ]),
  );
  readonly #emcon = new Set<GroupName>();
  readonly #ended = new Set<GroupName>();

  /** Follows a step that was made. */
  follow(step: Step, ended: string): void {
    if (ended !== DONE) return;
    if (step.step === 'emcon') this.#emcon[step.on ? 'add' : 'delete'](step.group);
    else if (step.step === 'end') this.#end(step.group, step.mode);
    else if ('of' in step) this.#change(this.#row(step.of), step);
  }

  /** Whether a step that was made is one that may be made. */
  permits(step: Step): boolean {
    if (step.step === 'write' && step.by !== 'ben') return this.writes(step.by, step.group);
    if (step.step === 'review' && step.decision === 'approve') return this.writes('boss', 'crew', 'staging_review');
    return true;
  }

  /** Whether an agent may read a group. */
  reads(name: AgentName, group: string): boolean {
    const { roles, seesGroups } = this.#row(name);
    return this.#acts(name) && roles.has(group) && seesGroups && (name === 'boss' || this.#row('boss').seesGroups);
  }

  /** Whether an agent may write to a group. */
  writes(name: AgentName, group: GroupName, tool = 'memory_write_warm'): boolean {
    const isOpen = !this.#emcon.has(group) && !this.#ended.has(group);
    return this.#acts(name) && isOpen && this.#row(name).roles.get(group) === 'member' && this.calls(name, tool);
  }

  /** Whether an agent may call a tool. */
  calls(name: AgentName, tool: string): boolean {
    const { tools } = this.#row(name);
    const has =
      tools === null || tools.some((one) => one === tool || (one.endsWith('*') && tool.startsWith(one.slice(0, -1))));
    return has && (name === 'boss' || this.calls('boss', tool));
  }

  #acts(name: AgentName): boolean {
    return !this.#row(name).off && (name === 'boss' || this.#acts('boss'));
  }

  #change(row: Row, step: Extract<Step, { readonly of: AgentName }>): void {
    if (step.step === 'role') row.roles.set(step.group, step.role);
    else if (step.step === 'leave') row.roles.delete(step.group);
    else if (step.step === 'tools') row.tools = step.tools;
    else if (step.step === 'reads') row.seesGroups = step.visibility.includes('group');
    else if (step.step === 'status') row.off = step.to === 'suspend' || step.to === 'deactivate';
  }

  #end(group: GroupName, mode: 'archive' | 'delete'): void {
    this.#ended.add(group);
    if (mode === 'delete') for (const { roles } of this.#rows.values()) roles.delete(group);
  }

  #row(name: AgentName): Row {
    const row = this.#rows.get(name);
    if (row === undefined) throw new Error(`no agent ${name}`);
    return row;
  }
}
