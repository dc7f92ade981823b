import { createRequire } from 'node:module';

/**
 * Defines `Temporal` if this Node has none, which is so before Node 26. The polyfill is loaded when it is first used:
 * that takes some 20 ms, and many commands need no calendar. Each file that uses `Temporal` imports this one.
 */
if (!('Temporal' in globalThis)) {
  Object.defineProperty(globalThis, 'Temporal', { configurable: true, get: loadPolyfill });
}

function loadPolyfill(): typeof Temporal {
  // The polyfill itself asks whether there is one.
  Reflect.deleteProperty(globalThis, 'Temporal');
  const ending = import.meta.url.endsWith('.js') ? 'js' : 'ts';
  const polyfill = createRequire(import.meta.url)(`./temporal-polyfill.${ending}`) as { Temporal: typeof Temporal };
  Object.defineProperty(globalThis, 'Temporal', { configurable: true, writable: true, value: polyfill.Temporal });
  return polyfill.Temporal;
}
