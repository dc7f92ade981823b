/** Registers one synchronous function. */
export type Define = (signature: string, handler: (...args: never[]) => unknown) => void;
