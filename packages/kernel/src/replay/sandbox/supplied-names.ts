/**
 * The modules that the replaying kernel supplies to pure code, instead of pure code bundling them: the definitions must
 * be those of the kernel that replays, and the manifest pins its rules as their number.
 */
export const SUPPLIED_MODULES = [
  '@reprise/contracts',
  '@reprise/kernel',
  '@reprise/kernel/authority',
  '@reprise/kernel/define',
  'zod',
] as const;

/** The name of a module that a sandbox supplies. */
export type SuppliedModule = (typeof SUPPLIED_MODULES)[number];
