import { Type } from 'typebox';
import { newId } from '../../lib/ids.ts';
import { type ApiCall, defineEndpoint, type Resource } from '../endpoint.ts';
import { badRequest, notFound } from '../http/api-error.ts';
import { idAndName, isoTime, nothing, timeText, unixTime } from '../http/fields.ts';
import { listResult, pageQuery } from '../http/page.ts';
import { findKlip } from '../klip-rules.ts';
import { defineModel } from '../model.ts';
import {
  type Annotation,
  annotationById,
  annotationsOf,
  deleteAnnotation,
  insertAnnotation,
  updateAnnotation,
} from '../store/annotations.ts';

const path = '/klips/{id}/annotations';

const annotationSchema = defineModel('Annotation', {
  id: Type.String(),
  createdBy: idAndName,
  date_created: isoTime,
  body: Type.String(),
});

const writing = Type.String({
  minLength: 1,
  maxLength: 10_000,
  pattern: '\\S',
  'x-rule': 'must be a string of 1 to 10000 characters',
});

function describe({ id, authorId, authorName, createdAt, body }: Annotation): object {
  return { id, createdBy: { id: authorId, name: authorName }, date_created: timeText(createdAt), body };
}

/** Returns the annotation in the path. Anyone who can see a Klip can see its annotations, and change them with the permission. */
function findAnnotation(call: ApiCall): Annotation {
  const { annotation: id } = call.params as { annotation: string };
  const klip = findKlip(call);
  const annotation = annotationById(call.context.db, id);
  if (annotation?.klipId !== klip.id) throw notFound(`Annotation not found: ${id}`);
  return annotation;
}

interface Period {
  readonly start_date?: number;
  readonly end_date?: number;
}

/** Converts an inclusive range of whole seconds to a half-open range in milliseconds. */
function milliseconds({ start_date: start = 0, end_date: end }: Period): { since: number; until: number } {
  if (end === undefined) return { since: start * 1000, until: Number.MAX_SAFE_INTEGER };
  if (start > end) throw badRequest('Field "start_date" must not be after "end_date"');
  return { since: start * 1000, until: (end + 1) * 1000 };
}

export default {
  name: 'klip-annotations',
  summary: 'Comments on Klips',
  endpoints: [
    defineEndpoint({
      id: 'listAnnotations',
      method: 'GET',
      path,
      summary: 'The annotations of a Klip',
      basis: 'document',
      decided: 'the period includes both `start_date` and `end_date`',
      permission: ['dashboard.annotation.view'],
      query: { ...pageQuery, start_date: Type.Optional(unixTime), end_date: Type.Optional(unixTime) },
      answer: { status: 200, data: Type.Object({ annotations: Type.Array(annotationSchema) }) },
      find: (call) => findKlip(call),
      do: ({ context, query }, klip) =>
        listResult(
          'annotations',
          annotationsOf(context.db, { klipId: klip.id, ...milliseconds(query) }, query),
          describe,
        ),
    }),
    defineEndpoint({
      id: 'getAnnotation',
      method: 'GET',
      path: `${path}/{annotation}`,
      summary: 'One annotation',
      basis: 'document',
      permission: ['dashboard.annotation.view'],
      answer: { status: 200, data: annotationSchema },
      find: (call) => findAnnotation(call),
      do: (_call, annotation) => ({ data: describe(annotation) }),
    }),
    defineEndpoint({
      id: 'createAnnotation',
      method: 'POST',
      path,
      summary: 'Adds an annotation to a Klip',
      basis: 'document',
      permission: ['dashboard.annotation.edit'],
      body: { body: writing },
      answer: { status: 201, data: nothing },
      find: (call) => findKlip(call),
      do: ({ context, caller, body: { body } }, klip) => {
        const annotation = { id: newId(), klipId: klip.id, body, authorId: caller.user.id };
        context.db.durably(() => insertAnnotation(context.db, { ...annotation, createdAt: context.clock.now() }));
        return { meta: { location: `/klips/${klip.id}/annotations/${annotation.id}` } };
      },
    }),
    defineEndpoint({
      id: 'updateAnnotation',
      method: 'PUT',
      path: `${path}/{annotation}`,
      summary: 'Changes the text of an annotation',
      basis: 'document',
      permission: ['dashboard.annotation.edit'],
      body: { body: Type.Optional(writing) },
      find: (call) => findAnnotation(call),
      act: ({ context, body: { body } }, { id }) => {
        if (body !== undefined) context.db.durably(() => updateAnnotation(context.db, id, body));
      },
    }),
    defineEndpoint({
      id: 'deleteAnnotation',
      method: 'DELETE',
      path: `${path}/{annotation}`,
      summary: 'Removes an annotation',
      basis: 'document',
      permission: ['dashboard.annotation.edit'],
      find: (call) => findAnnotation(call),
      act: ({ context }, { id }) => context.db.durably(() => deleteAnnotation(context.db, id)),
    }),
  ],
} satisfies Resource;
