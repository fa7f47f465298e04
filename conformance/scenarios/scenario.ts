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

/** What a model answers, whatever its protocol. */
export interface Answer {
  /** The instructions of the agent that it is said to; it is said to any agent when absent. */
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

/** What a scenario has in hand while it is played. */
export interface Stage {
  readonly world: AgentWorld;
  readonly clock: VirtualClock;
  /** The session of the first agent. */
  readonly session: Session;
  /** Says something in it, under an id: the same again after a crash. */
  say(text: string, id: string): Promise<Run>;
  /** Waits until an event of this type of the run is durable, or the run is over. */
  until(run: Run, type: string): Promise<void>;
  /** Waits until the model has begun an answer that it does not end, or the run is over. */
  speaking(run: Run): Promise<void>;
  /** Lets held answers go. */
  letGo(): void;
  /** Notes what something asked of the world came to. */
  told(what: Value): void;
}

/** What a scenario comes to. */
export interface Ends {
  readonly stop: StopReason;
  readonly text: string | RegExp;
  /** How many requests reach the provider. */
  readonly requests: number;
  /** How many of them got an answer and no refusal; all when absent. */
  readonly answered?: number;
  /** The types of the run's events, in order. */
  readonly events: readonly string[];
  /** How many effects are open when the run is over, its children's among them; none when absent. */
  readonly open?: number;
  /** Something that the newest request holds, as the provider reads it. */
  readonly shown?: RegExp;
  /** What was noted by `told`. */
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
  /** What it shows, in one sentence. */
  readonly shows: string;
  /** The agents that the world knows; the session is one with the first. */
  readonly agents: readonly [AnyAgent, ...AnyAgent[]];
  /** The rules of the world; those of agents when absent. */
  readonly policy?: readonly PolicyRule[];
  /** What the model answers: to each agent its answers in order, and the last one again and again. */
  readonly says: readonly Answer[];
  /** What is asked of the world, again from its beginning after a crash; `Go.` and no more when absent. */
  readonly drive?: (stage: Stage) => Promise<Run>;
  readonly ends: Ends;
  readonly afterCrash?: AfterCrash;
}

/** The key of a scenario's session. */
export const SESSION = 's';
