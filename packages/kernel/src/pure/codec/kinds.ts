/**
 * The prefix of the 32 digest bytes of a link: tag 42, a byte string of 37, the identity multibase prefix 0x00,
 * then CIDv1 with a codec and multihash sha2-256 of 32 bytes. The codec is `raw` (0x55) for bytes of any kind
 * and `dag-cbor` (0x71) for canonical values, so that standard tools can walk from value to value.
 */
export const LINK_HEAD: Uint8Array = Uint8Array.of(0xd8, 0x2a, 0x58, 0x25, 0x00, 0x01, 0x55, 0x12, 0x20);

/** The tag of a link. */
export const LINK_TAG = 42;

/** The position of the codec in the head. */
export const LINK_CODEC_AT = 6;

/** The codec of a link to a canonical value; a link to raw bytes has the one in the head. */
export const LINK_CODEC_VALUE = 0x71;

/**
 * Tells plain objects and plain lists from instances of classes. Those of another realm (a vm context, an
 * iframe) are plain too: they have another `Object.prototype`, so identity alone would refuse them.
 */
export function plainness(thing: object): 'map' | 'list' | 'neither' {
  const prototype: unknown = Object.getPrototypeOf(thing);
  if (Array.isArray(thing)) return prototype === Array.prototype || isForeignList(prototype) ? 'list' : 'neither';
  if (prototype === Object.prototype || prototype === null) return 'map';
  return isForeignRoot(prototype) ? 'map' : 'neither';
}

/**
 * Whether a canonical value is a map of this realm, found by its prototype alone. It is asked first, since most things
 * are such maps: to ask each of them for the mark of a link took 3 % of a verification. A map of another realm does not
 * pass, and is then looked at the long way. Only for canonical values: another thing may wear the mark of a link.
 */
export function isOwnMap(thing: object): boolean {
  return Object.getPrototypeOf(thing) === Object.prototype;
}

/** The `Object.prototype` of some realm: it has no prototype and owns what only that object owns. */
function isForeignRoot(prototype: unknown): boolean {
  if (typeof prototype !== 'object' || prototype === null) return false;
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, 'isPrototypeOf');
}

/** The `Array.prototype` of some realm is itself a list; the prototype of a subclass is not. */
function isForeignList(prototype: unknown): boolean {
  return Array.isArray(prototype) && isForeignRoot(Object.getPrototypeOf(prototype));
}

/**
 * An item of a list, read without running an accessor: undefined for one, as for a hole. A list of others may have accessors
 * at its indexes, too.
 */
export function itemAt(list: readonly unknown[], index: number): unknown {
  return Object.getOwnPropertyDescriptor(list, index)?.value;
}

const tagOf = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag)?.get;

/**
 * The bytes in a thing, if it is a `Uint8Array` of any realm; Node's `Buffer` is one. The getter of the shared
 * typed-array prototype reads the internal slot: `instanceof` fails across realms and can be faked within one.
 */
export function bytesIn(thing: object): Uint8Array | undefined {
  return tagOf?.call(thing) === 'Uint8Array' ? (thing as Uint8Array) : undefined;
}
