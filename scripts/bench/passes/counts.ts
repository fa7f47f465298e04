/** What a counted program counts, by name: one object for the bundle, which the counted functions find as a global. */
export const counts: Record<string, number> = {};
(globalThis as { passes?: typeof counts }).passes = counts;
