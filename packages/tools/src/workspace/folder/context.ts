import type { ApprovalRule } from '@reprise/agent';
import type { Confinement } from './confine.js';

/** Shared by the tools of one workspace. */
export interface WorkspaceContext {
  readonly confinement: Confinement;
  /** Name patterns of folders that a walk does not enter. */
  readonly ignore: readonly string[];
  /** Which writes a person has to approve. */
  readonly approval: ApprovalRule<{ readonly path: string }>;
}
