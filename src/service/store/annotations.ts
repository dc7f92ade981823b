import type { Listed, Page } from '../http/page.ts';
import type { Database } from './database.ts';
import { listRows } from './listing.ts';

/** A comment on a Klip. */
export interface Annotation {
  readonly id: string;
  readonly klipId: string;
  readonly body: string;
  readonly authorId: string;
  /** The author's current name. If the author was deleted, this is the author's name at the time of writing. */
  readonly authorName: string;
  readonly createdAt: number;
}

const nameOf = `coalesce(nullif(trim(u.first_name || ' ' || u.last_name), ''), u.email)`;
const columns = `n.id, n.klip_id as klipId, n.body, n.author_id as authorId,
  coalesce(${nameOf}, n.author_name) as authorName, n.created_at as createdAt`;
const from = 'from klip_annotations n left join users u on u.id = n.author_id';

/** An annotation of any Klip. */
export function annotationById(db: Database, id: string): Annotation | undefined {
  return db.get<Annotation>(`select ${columns} ${from} where n.id = ?`, id);
}

/** Returns a Klip's annotations from `since` (inclusive) to `until` (exclusive), both in epoch milliseconds. */
export function annotationsOf(
  db: Database,
  { klipId, since, until }: { klipId: string; since: number; until: number },
  page: Page,
): Listed<Annotation> {
  const some = `${from} where n.klip_id = ? and n.created_at >= ? and n.created_at < ?`;
  return listRows(db, { columns, from: some, order: 'n.created_at, n.id' }, [klipId, since, until], page);
}

/** Stores an annotation together with its author's current name. */
export function insertAnnotation(db: Database, given: Omit<Annotation, 'authorName'>): void {
  db.run(
    `insert into klip_annotations (id, klip_id, body, author_id, author_name, created_at)
     select ?, ?, ?, u.id, ${nameOf}, ? from users u where u.id = ?`,
    given.id,
    given.klipId,
    given.body,
    given.createdAt,
    given.authorId,
  );
}

export function updateAnnotation(db: Database, id: string, body: string): void {
  db.run('update klip_annotations set body = ? where id = ?', body, id);
}

export function deleteAnnotation(db: Database, id: string): void {
  db.run('delete from klip_annotations where id = ?', id);
}
