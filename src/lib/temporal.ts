import { createRequire } from 'node:module';

/**
 * Defines `Temporal` if this Node has none (before Node 26). The polyfill is loaded on first use, because that takes
 * about 20 ms and many commands don't need a calendar. Each file that uses `Temporal` must import this one.
 */
if (!('Temporal' in globalThis)) {
  Object.defineProperty(globalThis, 'Temporal', { configurable: true, get: loadPolyfill });
}

function loadPolyfill(): typeof Temporal {
  // The polyfill checks whether `Temporal` exists, so remove the getter first.
  Reflect.deleteProperty(globalThis, 'Temporal');
  const ending = import.meta.url.endsWith('.js') ? 'js' : 'ts';
  const polyfill = createRequire(import.meta.url)(`./temporal-polyfill.${ending}`) as { Temporal: typeof Temporal };
  Object.defineProperty(globalThis, 'Temporal', { configurable: true, writable: true, value: polyfill.Temporal });
  return polyfill.Temporal;
}
