/**
 * The cell of a project as its handle asks it: commands in the name of a team, and how their outcomes are heard.
 *
 * A command that decides by what the skills are now has its outcome stated later: in a fact of the project, or in one of the
 * session of its coordinator.
 */
import { type CommandReceipt, type Duration, isBelow } from '@reprise/agent';
import { RepriseError, requireFields, type Value } from '@reprise/contracts';
import type { Ack, World } from '@reprise/kernel';
import {
  type By,
  command,
  type FactRecord,
  factIn,
  OrgCell,
  outcomeOf,
  refusalIn,
  runOfInput,
  until,
} from '@reprise/org';
import {
  coordinatorOf,
  PROJECT,
  type ProjectCommandName,
  type ProjectState,
  projectFacts,
  type projectTables,
} from '../pure/index.js';

export class ProjectCell extends OrgCell<ProjectState, typeof projectTables> {
  constructor(
    world: World,
    readonly id: string,
    private readonly team: string,
  ) {
    super(world, [PROJECT, id], { part: 'team', of: 'event' });
  }

  /** Sends a command in the name of the team: a project of another team refuses it. */
  command(name: ProjectCommandName, value: object, by: By): Promise<Ack> {
    return command(this, name, { ...value, team: this.team }, by);
  }

  /** Sends a command. @returns whether the project has taken it, or why it refused it */
  receiptOf(name: ProjectCommandName, value: object, by: By): Promise<CommandReceipt> {
    return receiptFor(by, (own) => this.command(name, value, own));
  }

  /** Sends a command whose outcome is stated later. @returns whether the project has done it, or why it refused it */
  receiptOfLater(name: ProjectCommandName, value: object, by: By): Promise<CommandReceipt> {
    return receiptFor(by, (own) => this.commandLater(name, value, own));
  }

  /** Sends a command whose outcome is stated later, when team and skills were read. @returns what was done */
  async commandLater(name: ProjectCommandName, value: object, by: By): Promise<Value> {
    requireFields(by, 'team options', BY);
    const id = by.id ?? crypto.randomUUID();
    const ack = await this.command(name, { ...value, command_id: id }, { ...by, id });
    await this.#readAgain();
    const done = await outcomeOf(this, ack, {
      in: async (fact) => {
        const commanded = factIn(fact, [projectFacts, 'specialists/Commanded@1']);
        if (commanded?.command_id === id) return commanded;
        await this.#requireRead(fact);
        return undefined;
      },
    });
    if (done.code === null) return done.value;
    throw new RepriseError('request_rejected', `project ${this.id} refused the command: ${done.code}`, {
      where: name,
      reason: done.code,
      actual: done.value,
      hint: 'docs/reference/teams.md says when each refusal comes.',
    });
  }

  /** The number of the run that an input of the coordinator began. */
  async runOf(ack: Ack, id: string): Promise<number> {
    await this.#readAgain();
    return runOfInput(this, ack, {
      id,
      session: coordinatorOf(this.id)[1],
      whose: `the coordinator of project ${this.id}`,
      refused: 'specialists/Commanded@1',
      hear: (fact) => this.#requireRead(fact),
    });
  }

  /** Refuses what no command of the project stands for, as its cell refuses commands. */
  async requireTeam(): Promise<void> {
    const { team = null } = (await this.state()) ?? {};
    if (team === null || team === this.team) return;
    throw new RepriseError('request_rejected', `project ${this.id} belongs to another team: ${team}`, {
      where: `project ${this.id}`,
      expected: `a project of team ${this.team}`,
      actual: team,
      reason: 'other_team',
    });
  }

  /**
   * Waits until nothing is under way.
   *
   * @param within ends the wait; without it, it may be a wait of one of the project's own tools, which is refused
   * @returns the state; `working` when the time is over
   */
  async idle(within?: Duration): Promise<ProjectState> {
    const state = async () => {
      const now = await this.state();
      if (now === undefined) throw this.lost('a message or a plan');
      return now;
    };
    const idle = await until(this, {
      look: async () => {
        const now = await state();
        return now.status === 'working' ? undefined : now;
      },
      after: 'specialists/ProjectChanged@1',
      waitsFor: isBelow([this.id]),
      within,
    });
    return idle ?? state();
  }

  /** What is thrown where the project lacks what a call needs. */
  lost(what: string): RepriseError {
    return new RepriseError('invalid_argument', `project ${this.id} lacks ${what}`, {
      where: `project ${this.id}`,
      hint: 'Send it a message, or plan tasks, first.',
    });
  }

  /** Has the team read again, when commands wait because it could not be: an earlier command was sent again. */
  async #readAgain(): Promise<void> {
    if (await this.#isUnread()) await this.command('specialists/Open@1', {}, {});
  }

  /** @throws RepriseError `run_waiting` when a fact says that the team cannot be read, so that commands wait and nothing goes on */
  async #requireRead(fact: FactRecord): Promise<void> {
    const unread = factIn(fact, [projectFacts, 'specialists/NotRead@1']);
    if (unread !== undefined && (await this.#isUnread())) throw this.#notRead(unread.code);
  }

  /** Whether commands wait because the team could not be read, and nothing reads it now. */
  async #isUnread(): Promise<boolean> {
    return (await this.state())?.needs === 'team';
  }

  #notRead(code: string): RepriseError {
    return new RepriseError('run_waiting', `project ${this.id} cannot read its team, so the command waits: ${code}`, {
      where: `project ${this.id}`,
      reason: 'team_not_read',
      actual: code,
      hint: 'Nothing is lost. Fix the cause, then send the same command with the same id, or another one: all that waits is taken up.',
    });
  }
}

const BY = 'an object with any of id, as, actor';

/** The receipt of a command: a refusal by the cell is its content, any other error is thrown. */
async function receiptFor(by: By, run: (by: By) => Promise<unknown>): Promise<CommandReceipt> {
  requireFields(by, 'team options', BY);
  const id = by.id ?? crypto.randomUUID();
  try {
    await run({ ...by, id });
    return { command_id: id, status: 'accepted' };
  } catch (error) {
    const code = refusalIn(error);
    if (code === undefined) throw error;
    return { command_id: id, status: 'rejected', code: code as never };
  }
}
