/** The kinds of pieces that go to a sandbox's process, and how it ends. What comes back is of one kind: messages. */

/** The text of the engine: the first piece. */
export const ENGINE = 1;

/** The text of the code: the second piece. */
export const CODE = 2;

/** A message for the inside of the sandbox. */
export const MESSAGE = 3;

/** The exit code of the process when the code imports while it runs. */
export const IMPORTED = 71;
