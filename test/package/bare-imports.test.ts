import { describe, expect, it } from 'vitest';
import { missingPackages } from '../../deploy/build/bare-imports.ts';

const chunk = (code: string) => missingPackages([{ fileName: 'chunks/a.js', code }], ['pino', '@marc/cel']);

describe('packages that the built files import by name', () => {
  it('count as missing if they are neither bundled nor installed, no matter how they are imported', () => {
    expect(chunk('import a from "yauzl"; a();')).toEqual(['yauzl (loaded by chunks/a.js)']);
    expect(chunk('export { a } from "yauzl/fd"; export * from "b";')).toEqual([
      'b (loaded by chunks/a.js)',
      'yauzl/fd (loaded by chunks/a.js)',
    ]);
    expect(chunk('const a = () => import("@a/b/c");')).toEqual(['@a/b/c (loaded by chunks/a.js)']);
    expect(chunk('const a = () => __require("yauzl");')).toEqual(['yauzl (loaded by chunks/a.js)']);
    expect(chunk('const a = late$1(import.meta.url, "yauzl");')).toEqual(['yauzl (loaded by chunks/a.js)']);
  });

  it("don't count as missing if they are installed, built in, next to the file, or optional for the importing code", () => {
    const code = `
      import { readFile } from "node:fs"; import os from "os"; import "./b.js"; import door from "#sdk";
      const a = late(import.meta.url, "pino"), b = late(import.meta.url, "@marc/cel/evaluator");
      try { require("pg-native"); } catch {}
      const text = 'require("yauzl")'; // require("yauzl")
    `;
    expect(chunk(code)).toEqual([]);
  });
});
