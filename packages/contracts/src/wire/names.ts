import * as z from '../schema/index.js';

/** The shape of every wire name: `namespace/Name@version`, for example `aos.agent/UserInput@1`. */
export const WIRE_NAME = /^[a-z][a-z0-9_.-]*\/[A-Za-z][A-Za-z0-9_.-]*@[1-9][0-9]{0,5}$/;

/** The shape of an effect kind: a dotted name and a version, for example `llm.generate@2`. */
export const EFFECT_KIND = /^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*@[1-9][0-9]{0,5}$/;

/** A wire name: `ns/Name@v`. A released version never changes meaning; a new meaning is a new version. */
export const wireName = z.string().regex(WIRE_NAME).max(128);

/** The kind of an effect with its version, such as `llm.generate@2`. */
export const effectKind = z.string().regex(EFFECT_KIND).max(128);
