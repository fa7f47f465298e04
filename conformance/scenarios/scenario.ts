/**
 * What a scenario of the conformance suite is: agents, what their model answers, what is asked of the world meanwhile,
 * and what it must come to. Defined once: played live against a mock provider (`conformance/profiles`), and from
 * recorded wire bytes in virtual time, whole, crashed, tampered with and replayed (`conformance/modes`).
 */
import type { PolicyRule, Value } from '@reprise/contracts';
import type { VirtualClock } from '@reprise/testkit';
import type { AgentWorld, AnyAgent, Run, Session, StopReason } from 'reprise';

/** A tool that the model calls. */
export interface Called {
  readonly id: string;
  readonly tool: string;
  readonly args: object;
}

/** An answer of a model, whatever its protocol. */
export interface Answer {
  /** The instructions of the receiving agent; any agent when absent. */
  readonly to?: string;
  readonly text?: string;
  readonly calls?: readonly Called[];
  readonly usage?: { readonly in: number; readonly out: number };
  /** The provider refuses instead. */
  readonly fails?: { readonly status: number; readonly message: string };
  /** Said only after the scenario has called {@link Stage.letGo}. */
  readonly held?: true;
  /** Sent so slowly, in the live recording, that it can be interrupted; its tape ends in the middle. */
  readonly slowly?: true;
}

/** The tools of a scenario while it is played. */
export interface Stage {
  readonly world: AgentWorld;
  readonly clock: VirtualClock;
  /** The session of the first agent. */
  readonly session: Session;
  /** Sends a message under an id: the same again after a crash. */
  say(text: string, id: string): Promise<Run>;
  /** Waits until an event of this type of the run is durable, or the run is over. */
  until(run: Run, type: string): Promise<void>;
  /** Waits until the model has begun an answer that it does not end, or the run is over. */
  speaking(run: Run): Promise<void>;
  /** Releases withheld answers. */
  letGo(): void;
  /** Notes the answer to a request of the world. */
  told(what: Value): void;
}

/** The expected results of a scenario. */
export interface Ends {
  readonly stop: StopReason;
  readonly text: string | RegExp;
  /** The number of requests that reach the provider. */
  readonly requests: number;
  /** The number of them that got an answer and no refusal; all when absent. */
  readonly answered?: number;
  /** The types of the run's events, in order. */
  readonly events: readonly string[];
  /** The number of open effects at the end of the run, including its children's; none when absent. */
  readonly open?: number;
  /** A text in the newest request, as the provider reads it. */
  readonly shown?: RegExp;
  /** The agent whose newest request it is, by its instructions; that of any agent when absent. */
  readonly shownTo?: string;
  /** The notes that were made with `told`. */
  readonly told?: readonly Value[];
}

/** Another end that is as right when the process died on the way. What it does not name is as without a crash. */
export interface OtherEnd {
  readonly text?: string;
  /** Commands are sent again after a crash, and may find the session elsewhere than the first time. */
  readonly told?: readonly Value[];
  readonly events?: readonly string[];
}

/**
 * What a crash may make of a scenario, beyond what it may make of any: that a call of which nobody knows whether it
 * happened fails where it would have completed.
 */
export interface AfterCrash {
  /** Why. */
  readonly because: string;
  readonly ends: readonly [OtherEnd, ...OtherEnd[]];
}

/** A scenario. */
export interface Scenario {
  readonly name: string;
  /** The behavior that it shows, in one sentence. */
  readonly shows: string;
  /** The agents that the world knows; the session is one with the first. */
  readonly agents: readonly [AnyAgent, ...AnyAgent[]];
  /** The rules of the world; those of agents when absent. */
  readonly policy?: readonly PolicyRule[];
  /** The answers of the model: for each agent in order, and the last one again and again. */
  readonly says: readonly Answer[];
  /** The requests to the world, repeated from the beginning after a crash; `Go.` and no more when absent. */
  readonly drive?: (stage: Stage) => Promise<Run>;
  readonly ends: Ends;
  readonly afterCrash?: AfterCrash;
}

/** The key of a scenario's session. */
export const SESSION = 's';
