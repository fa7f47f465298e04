/** Pure code that travels with a world: bundling it, recording it, performing it where the app is not at hand. */
export * from '@reprise/capsule';
