import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { ZipFile } from 'yazl';

/** A zip archive of these files, as another program writes it. */
export async function zipOf(members: Readonly<Record<string, string | Buffer>>): Promise<Buffer> {
  const zip = new ZipFile();
  for (const [name, content] of Object.entries(members)) zip.addBuffer(Buffer.from(content), name);
  zip.end();
  return await buffer(zip.outputStream);
}

export interface SheetParts {
  /** The content of `<sheetData>`. */
  readonly rows: string;
  readonly texts?: string;
  /** Format codes by ID, from 164 on. Cells contain the position in this list, counted from 1. */
  readonly formats?: readonly string[];
  readonly book?: string;
  /** The sheet's whole part, instead of one with these rows. */
  readonly sheet?: Buffer;
}

export const mainSpace = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const main = `xmlns="${mainSpace}"`;
const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const relations = (list: string) =>
  `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${list}</Relationships>`;

/** A workbook with hand-written parts, for content that none of our libraries writes. */
export async function bookOf({ rows, texts, formats = [], book = '', sheet }: SheetParts): Promise<Buffer> {
  const codes = formats
    .map((code, i) => `<numFmt numFmtId="${164 + i}" formatCode="${code.replaceAll('"', '&quot;')}"/>`)
    .join('');
  const styles = formats.map((_, i) => `<xf numFmtId="${164 + i}"/>`).join('');
  return await zipOf({
    '_rels/.rels': relations(`<Relationship Id="a" Type="${office}/officeDocument" Target="xl/workbook.xml"/>`),
    'xl/workbook.xml': `<workbook ${main} xmlns:r="${office}">${book}<sheets><sheet name="Hidden" sheetId="1" state="hidden" r:id="h"/><sheet name="Data" sheetId="2" r:id="d"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': relations(
      [
        `<Relationship Id="h" Type="${office}/worksheet" Target="worksheets/hidden.xml"/>`,
        `<Relationship Id="d" Type="${office}/worksheet" Target="/xl/worksheets/data.xml"/>`,
        `<Relationship Id="s" Type="${office}/styles" Target="styles.xml"/>`,
        `<Relationship Id="t" Type="${office}/sharedStrings" Target="sharedStrings.xml"/>`,
      ].join(''),
    ),
    'xl/styles.xml': `<styleSheet ${main}><numFmts>${codes}</numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/>${styles}</cellXfs></styleSheet>`,
    'xl/sharedStrings.xml': `<sst ${main}>${texts ?? ''}</sst>`,
    'xl/worksheets/hidden.xml': `<worksheet ${main}><sheetData><row><c t="inlineStr"><is><t>h</t></is></c></row></sheetData></worksheet>`,
    'xl/worksheets/data.xml': sheet ?? `<worksheet ${main}><sheetData>${rows}</sheetData></worksheet>`,
  });
}

export async function putBook(path: string, parts: SheetParts): Promise<void> {
  await writeFile(path, await bookOf(parts));
}

/** The members as a tar archive, compressed with gzip. GNU tar, which every Debian machine has, writes it. */
export async function tarOf(members: Readonly<Record<string, string | Buffer>>): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-tar-of-'));
  try {
    for (const [name, content] of Object.entries(members)) await writeFile(join(folder, name), content);
    const { status, stdout, stderr } = spawnSync('tar', ['-C', folder, '-czf', '-', ...Object.keys(members)]);
    if (status !== 0) throw new Error(`tar failed: ${stderr}`);
    return stdout;
  } finally {
    await rm(folder, { recursive: true });
  }
}
