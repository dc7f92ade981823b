/** `sluice sync` waits up to a minute for the daemon to accept, instead of half a second. */
const acceptMs = 500;
const patienceMs = 60_000;
const { setTimeout } = globalThis;

globalThis.setTimeout = Object.assign(
  (act: (...given: unknown[]) => void, ms?: number, ...given: unknown[]) =>
    setTimeout(act, ms === acceptMs ? patienceMs : ms, ...given),
  setTimeout,
);
