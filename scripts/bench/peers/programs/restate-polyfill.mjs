/** Restate's SDK calls a function that Node 20 does not have. */
Promise.withResolvers ??= () => {
  let resolve;
  let reject;
  const promise = new Promise((good, bad) => {
    resolve = good;
    reject = bad;
  });
  return { promise, resolve, reject };
};
