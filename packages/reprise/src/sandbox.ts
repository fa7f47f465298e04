/** Pure code that travels with a world: bundling it, recording it, executing it where the app is not at hand. */
export * from '@reprise/sandbox';
