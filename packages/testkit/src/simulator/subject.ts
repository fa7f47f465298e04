/** The subject of a simulation, and its tools during a run. */
import type { JournalRecord } from '@reprise/contracts';
import type { App, Store, World } from '@reprise/kernel';
import type { VirtualClock } from '../clock/index.js';
import type { Choices } from './choices.js';
import type { Clients } from './clients.js';
import type { JournalAuditor } from './journal-auditor.js';
import type { CrashableStore } from './simulated-disk.js';
import type { SimulatedOutside } from './simulated-outside.js';
import type { SimulatedProcess } from './simulated-process.js';
import type { Sometimes } from './sometimes.js';

/** The subject of a simulation: an app, and how its worlds are opened and used. */
export interface SimulationSubject {
  readonly name: string;
  /** The app and options that replay the journal at the end. */
  readonly app: App;
  /** The states that its runs should meet, besides those of every subject. */
  readonly sometimes?: readonly string[];
  /** The maximum of decisions in a storm, unless the run sets its own; 250 when absent. */
  readonly steps?: number;
  /** The weight of its clients, where letting the oldest operation pass weighs 36; 50 when absent. */
  readonly clientWeight?: number;
  /** Makes the store of a run; memory when absent. */
  readonly store?: () => CrashableStore;
  /** Begins a run with the tools that it may use. */
  begin(run: SimulationRun): SimulationPlay;
}

/** The tools of a subject during a run. */
export interface SimulationRun {
  readonly choices: Choices;
  readonly clients: Clients;
  readonly outside: SimulatedOutside;
  readonly sometimes: Sometimes;
  readonly time: VirtualClock;
  /** Random bytes of the run, for a world's identity. */
  readonly random: (length: number) => Uint8Array;
  /** The auditor of the journal. */
  readonly journal: JournalAuditor;
  /** Reports that the world has broken a promise. */
  broken(why: string): void;
}

/** A subject in a run. */
export interface SimulationPlay {
  /** Opens the world as a new process does: with this store and the process's clock. */
  open(process: SimulatedProcess, store: Store): Promise<World>;
  /** The actions of clients, from which the storm draws. */
  readonly acts: readonly SimulationAct[];
  /** Checks each frame at the moment in which it becomes durable. Throws when it breaks a promise of the subject. */
  read?(frame: readonly JournalRecord[]): void;
  /** Ends what waits for the outside when the storm is over; cancels every open effect when absent. */
  settle?(world: World): Promise<void>;
  /** Checks an idle world. Throws when it is not as it should be. */
  check?(world: World): Promise<void>;
}

/** An action of a client. */
export interface SimulationAct {
  readonly name: string;
  /** Its weight among the actions. */
  readonly weight: number;
  /** Executes it. It may wait: the run continues meanwhile, and it waits for ever when the process dies. */
  execute(world: World): Promise<unknown> | unknown;
}
