/**
 * The modules that pure code imports from whoever replays it, instead of bringing them along: the definitions have to
 * be those of the kernel that replays, and its rules are pinned by the manifest as their number.
 */
export const GIVEN_MODULES = [
  '@reprise/contracts',
  '@reprise/kernel',
  '@reprise/kernel/authority',
  '@reprise/kernel/define',
  'zod',
] as const;

/** The name of a module that a sandbox gives. */
export type GivenModule = (typeof GIVEN_MODULES)[number];
