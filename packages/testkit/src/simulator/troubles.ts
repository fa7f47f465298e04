/** The trouble of a storm, and the states that it should lead to. */

/** Trouble that a run may have; the first decisions of a run choose among it. */
export const TROUBLES = [
  'crashes',
  'stops',
  'full disk',
  'failing disk',
  'lost answers',
  'clock jumps',
  'second openers',
  'lost locks',
  'lost leases',
  'closes',
] as const;

/** Trouble that a run may have. */
export type Trouble = (typeof TROUBLES)[number];

/** The states that runs of any subject should meet. */
export const ALWAYS_EXPECTED = [
  'a process died',
  'a process died before an append was carried out',
  'a process died after an append and before it was told',
  'a process died while the outside worked',
  'a process died while it opened the world',
  'a process was stopped and went on',
  'a process closed the world',
  'a second opener found the world locked',
  'a second writer was let in, for the lock was lost',
  'a writer without the lock was stopped by the head',
  'a second writer was let in, and the lease of the first was over',
  'a writer without its lease was fenced',
  'the disk was full',
  'an append failed',
  'the answer of an append was lost',
  'the wall clock jumped',
  'an interrupted effect was replayed',
  'an adapter answered after it was told to stop',
  'the same request was asked again and found',
  'refused: commit_failed',
] as const;
