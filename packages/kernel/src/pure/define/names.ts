/**
 * The form of names, for the compiler: a literal without namespace or version does not compile, and the error shows
 * what is missing. A name that is only known as text is checked when it is defined.
 */

/** A wire name, `namespace/Name@version`; any other literal becomes a message of the compiler. */
export type WireName<N extends string> = string extends N
  ? string
  : N extends `${string}/${string}@${number}`
    ? N
    : 'a wire name is namespace/Name@version, such as shop/Order@1';

/** Definitions by their wire names; a key that is no wire name becomes a message of the compiler. */
export type WireNames<E> = {
  readonly [N in keyof E]: N extends string
    ? string extends N
      ? unknown
      : N extends `${string}/${string}@${number}`
        ? unknown
        : 'a wire name is namespace/Name@version, such as shop/Ordered@1'
    : unknown;
};

/** The kind of an effect: `dotted.name@version`. */
export type EffectKind<N extends string> = string extends N
  ? string
  : N extends `${string}@${number}`
    ? N
    : 'the kind of an effect is name@version, such as bank.pay@1';
