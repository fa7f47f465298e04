import type { ApprovalRule } from '@reprise/agent';
import type { Confinement } from './confine.js';

/** What the tools of one workspace share. */
export interface WorkspaceContext {
  readonly confinement: Confinement;
  /** Name patterns of folders that a walk does not enter. */
  readonly ignore: readonly string[];
  /** Whether somebody has to approve what is written. */
  readonly approval: ApprovalRule<{ readonly path: string }>;
}
