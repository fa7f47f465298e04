/** The cost bounds of a check. Counted in steps and not in time, so that every machine gives the same verdict. */

/** Steps of one check. A step is one state of a pattern at one place of a text; a keyword at a value counts {@link NODE_STEPS}. */
export const CHECK_STEPS_MAX = 10_000_000;

/** What visiting one schema at one value costs. */
export const NODE_STEPS = 10;

/** Thrown inside this folder when the steps are used up; nothing outside sees it. */
export class OutOfSteps extends Error {}

/** Thrown inside this folder when a check goes too deep: most likely a schema that refers to itself at one value. */
export class TooDeep extends Error {}

/** How deep a check may go: values in values, and references to references at one value. */
export const CHECK_DEPTH_MAX = 256;

/** The steps that are left. */
export class Budget {
  constructor(private left: number = CHECK_STEPS_MAX) {}

  /** Takes steps. @throws OutOfSteps when there are no more */
  spend(steps: number): void {
    this.left -= steps;
    if (this.left < 0) throw new OutOfSteps();
  }
}
