/* The components of a mixture session on a graphics card, where they stay from sweep to
 * sweep. What the host sends and reads goes through one page-locked buffer, with a
 * place for each: a call that does not wait leaves its place alone until the next pass over the
 * rows has been waited for. While that pass goes on questions are answered through a
 * stream of their own. The twin of cpu/mixture/components.c.
 */
#include "cuda/mixture/components.cuh"
#include "cuda/mixture/samples.cuh"
#include "cuda/mixture/session.cuh"

namespace wb {

namespace {

/* Points whose distances are measured at a time. */
constexpr int POINTS = 8;
/* Blocks that work on components at a time: more would find no room on any card. */
constexpr uint64_t MOST_BLOCKS = 1024;

uint64_t triangle_of(const wb_mixture_session *s) {
  return wb_packed_size(s->data.columns);
}

/* Doubles of what is sent and read. */
uint64_t law_size(const wb_mixture_session *s, uint64_t k) {
  return 2 * static_cast<uint64_t>(s->data.columns) + triangle_of(s) + (k + 1) / 2;
}
uint64_t question_size(const wb_mixture_session *s) {
  return (1 + POINTS) * static_cast<uint64_t>(s->data.columns) + triangle_of(s);
}
uint64_t answer_size(const wb_mixture_session *s, uint64_t k) {
  return larger((3 + POINTS) * k, static_cast<uint64_t>(s->data.columns) + 2 * triangle_of(s));
}

int open_room(wb_mixture_session *s, int32_t components, wb_message *message) {
  mixture_room &room = s->room;
  const uint64_t k = static_cast<uint64_t>(components), p = static_cast<uint64_t>(s->data.columns);
  const uint64_t node = node_size(s, components), work = wb_component_work_size(s->data.columns);
  const uint64_t table = sample_table(s, components);
  const uint64_t fixed = 2 * table + node + k * (3 * p + triangle_of(s) + 4) + law_size(s, k) + question_size(s) + answer_size(s, k);
  uint64_t left = 0;
  room.release();
  int status = memory_left(s->memory_limit, s->held(), &left, message);
  if (status != WB_OK) return status;
  const uint64_t least = (fixed + work) * sizeof(double);
  if (least > left) return lacks_memory(s, components, least, left, message);
  uint64_t blocks = smaller(SMALL_BYTES, left / 8) / (work * sizeof(double));
  blocks = larger<uint64_t>(1, smaller(smaller(blocks, k), MOST_BLOCKS));
  const uint64_t sent = law_size(s, k) + k + question_size(s) + table;
  status = room.memory.allocate(fixed + blocks * work, "the components", message);
  if (status == WB_OK) status = room.mail.allocate(sent + larger(table, larger(node, answer_size(s, k))), "the components", message);
  if (status != WB_OK) {
    room.release();
    return status;
  }
  room.count = components;
  room.blocks = static_cast<unsigned>(blocks);
  double *next = room.memory.data();
  const auto take = [&next](uint64_t size) {
    double *const here = next;
    next += size;
    return here;
  };
  mixture_components &at = room.at;
  at.count = components;
  at.columns = s->data.columns;
  at.statistics = take(node);
  at.mean = take(k * p);
  at.offset = take(k * p);
  at.factor = take(k * triangle_of(s));
  at.pull = take(k * p);
  at.log_determinant = take(k);
  at.floor_trace = take(k);
  at.log_weight = take(k);
  at.failed = take(k);
  room.law = take(law_size(s, k));
  room.question = take(question_size(s));
  room.answer = take(answer_size(s, k));
  room.work = take(blocks * work);
  room.share = take(table);
  room.counts = reinterpret_cast<sample_count *>(take(table));
  next = room.mail.data();
  room.sent_law = take(law_size(s, k));
  room.sent_weight = take(k);
  room.sent_question = take(question_size(s));
  room.sent_share = take(table);
  room.fetched = next;
  /* Answers are fetched together, those too that were not asked for. */
  return status_of(cudaMemsetAsync(room.answer, 0, answer_size(s, k) * sizeof(double), s->stream.get()),
                   "preparing the components", message);
}

int send(const stream &by, double *to, const double *from, size_t count, wb_message *message) {
  return status_of(cudaMemcpyAsync(to, from, count * sizeof(double), cudaMemcpyHostToDevice, by.get()),
                   "sending numbers of components to the device", message);
}

/* Reads `count` doubles and waits for them. */
int fetch(wb_mixture_session *s, stream &by, const double *from, size_t count, wb_message *message) {
  const int status = status_of(cudaMemcpyAsync(s->room.fetched, from, count * sizeof(double), cudaMemcpyDeviceToHost, by.get()),
                               "fetching numbers of components", message);
  return status == WB_OK ? by.wait("computing numbers of components", message) : status;
}

double *put(double *to, const double *from, size_t count) {
  std::memcpy(to, from, count * sizeof(double));
  return to + count;
}

/* WB_ERROR_INPUT if one of the components could not be drawn, by the flags that were fetched. */
int all_drawn(const double *failed, int32_t components, wb_message *message) {
  double first = 0;
  for (int32_t j = 0; j < components; j++)
    if (failed[j] > 0 && (first == 0 || failed[j] < first)) first = failed[j];
  if (first == 0) return WB_OK;
  std::snprintf(message->text, sizeof message->text, WB_MIXTURE_NO_COVARIANCE, static_cast<int>(first));
  return WB_ERROR_INPUT;
}

int set_statistics(wb_mixture_session *s, int32_t first, int32_t count, const double *statistics, wb_message *message) {
  const size_t size = WB_MIXTURE_STATISTICS(s->data.columns), values = static_cast<size_t>(count) * size;
  put(s->room.fetched, statistics, values);
  const int status = send(s->stream, s->room.at.statistics + static_cast<size_t>(first) * size, s->room.fetched, values, message);
  return status == WB_OK ? s->stream.wait("sending the sums of rows", message) : status;
}

int get_statistics(wb_mixture_session *s, int32_t first, int32_t count, double *statistics, wb_message *message) {
  const size_t size = WB_MIXTURE_STATISTICS(s->data.columns), values = static_cast<size_t>(count) * size;
  const int status = fetch(s, s->stream, s->room.at.statistics + static_cast<size_t>(first) * size, values, message);
  if (status == WB_OK) put(statistics, s->room.fetched, values);
  return status;
}

launch_shape team_shape(const wb_mixture_session *s, const stream &by) {
  launch_shape shape;
  shape.blocks = dim3(s->room.blocks);
  shape.threads = dim3(static_cast<unsigned>(team_threads(s->data.columns)));
  shape.stream = by.get();
  return shape;
}

int draw_components(wb_mixture_session *s, const wb_mixture_law *law, const int32_t *source, uint64_t key, uint32_t iteration,
                    wb_message *message) {
  mixture_room &room = s->room;
  const size_t p = static_cast<size_t>(s->data.columns), triangle = triangle_of(s), k = static_cast<size_t>(room.count);
  double *next = put(room.sent_law, law->mean, p);
  next = put(next, law->scale, triangle);
  if (law->floor != nullptr) put(next, law->floor, p);
  std::memcpy(room.sent_law + 2 * p + triangle, source, k * sizeof(int32_t));
  int status = send(s->stream, room.law, room.sent_law, law_size(s, k), message);
  if (status != WB_OK) return status;
  const wb_component_law there = {s->data.columns, law->mean_scale, law->df, room.law, room.law + p,
                                  law->floor != nullptr ? room.law + p + triangle : nullptr};
  status = launch(team_shape(s, s->stream), mixture_draw_components, "drawing means and covariances", message, room.at, there,
                  reinterpret_cast<const int32_t *>(room.law + 2 * p + triangle), key, iteration, room.work);
  if (status == WB_OK) status = s->drawn.record(s->stream.get(), message);
  return status == WB_OK ? s->drawn.hold(s->side.get(), message) : status;
}

int add_precisions(wb_mixture_session *s, const wb_mixture_precisions *sums, wb_message *message) {
  mixture_room &room = s->room;
  const size_t p = static_cast<size_t>(s->data.columns), triangle = triangle_of(s);
  const bool mean = sums->mean_precision != nullptr, scale = sums->scale_precision != nullptr;
  double *const precision = room.answer + p;
  if (mean) {
    put(room.fetched, sums->pull, p);
    put(room.fetched + p, sums->mean_precision, triangle);
  }
  if (scale) put(room.fetched + p + triangle, sums->scale_precision, triangle);
  int status = send(s->side, room.answer, room.fetched, p + 2 * triangle, message);
  if (status != WB_OK) return status;
  launch_shape shape;
  shape.blocks = dim3(static_cast<unsigned>(ceiling(static_cast<int64_t>(triangle), ENTRY_THREADS)) + 1, 2);
  shape.threads = dim3(ENTRY_THREADS);
  shape.shared_bytes = static_cast<size_t>(factors_in_shared(s->data.columns)) * triangle * sizeof(double);
  shape.stream = s->side.get();
  double *const none = nullptr;
  status = launch(shape, mixture_add_precisions, "adding precisions", message, room.at, sums->mean_weight, sums->scale_weight,
                  room.answer, mean ? precision : none, scale ? precision + triangle : none);
  if (status == WB_OK) status = fetch(s, s->side, room.answer, p + 2 * triangle, message);
  if (status != WB_OK) return status;
  if (mean) {
    put(sums->pull, room.fetched, p);
    put(sums->mean_precision, room.fetched + p, triangle);
  }
  if (scale) put(sums->scale_precision, room.fetched + p + triangle, triangle);
  return WB_OK;
}

/* `points` of the points from `first` on, with the rest of the measures if first is 0. */
int measure_some(wb_mixture_session *s, const wb_mixture_measures *m, int32_t first, int32_t points, wb_message *message) {
  mixture_room &room = s->room;
  const size_t p = static_cast<size_t>(s->data.columns), triangle = triangle_of(s), k = static_cast<size_t>(room.count);
  const size_t q = static_cast<size_t>(points);
  const bool all = first == 0;
  double *const center = room.sent_question, *const root = center + p, *const point = root + triangle;
  if (all && m->distance != nullptr) put(center, m->center, p);
  if (all && m->trace != nullptr) put(root, m->root, triangle);
  if (points > 0) put(point, m->point + static_cast<size_t>(first) * p, q * p);
  int status = send(s->side, room.question, room.sent_question, p + triangle + q * p, message);
  if (status != WB_OK) return status;
  mixture_questions questions = {};
  questions.center = room.question;
  questions.root = room.question + p;
  questions.point = questions.root + triangle;
  questions.points = points;
  questions.log_determinant = all && m->log_determinant != nullptr ? room.answer : nullptr;
  questions.distance = all && m->distance != nullptr ? room.answer + k : nullptr;
  questions.trace = all && m->trace != nullptr ? room.answer + 2 * k : nullptr;
  questions.point_distance = room.answer + 3 * k;
  status = launch(team_shape(s, s->side), mixture_measure, "measuring components", message, room.at, questions, room.work);
  if (status == WB_OK) status = fetch(s, s->side, room.answer, (3 + q) * k, message);
  if (status != WB_OK) return status;
  if (questions.log_determinant != nullptr) put(m->log_determinant, room.fetched, k);
  if (questions.distance != nullptr) put(m->distance, room.fetched + k, k);
  if (questions.trace != nullptr) put(m->trace, room.fetched + 2 * k, k);
  if (points > 0) put(m->point_distance + static_cast<size_t>(first) * k, room.fetched + 3 * k, q * k);
  return WB_OK;
}

int measure(wb_mixture_session *s, const wb_mixture_measures *m, wb_message *message) {
  int status = measure_some(s, m, 0, smaller<int32_t>(m->points, POINTS), message);
  for (int32_t first = POINTS; first < m->points && status == WB_OK; first += POINTS)
    status = measure_some(s, m, first, smaller<int32_t>(m->points - first, POINTS), message);
  return status;
}

int get_components(wb_mixture_session *s, double *mean, double *factor, wb_message *message) {
  mixture_room &room = s->room;
  const size_t k = static_cast<size_t>(room.count), p = static_cast<size_t>(s->data.columns);
  int status = fetch(s, s->stream, room.at.failed, k, message);
  if (status == WB_OK) status = all_drawn(room.fetched, room.count, message);
  if (status == WB_OK && mean != nullptr) {
    status = fetch(s, s->stream, room.at.mean, k * p, message);
    if (status == WB_OK) put(mean, room.fetched, k * p);
  }
  if (status == WB_OK && factor != nullptr) {
    status = fetch(s, s->stream, room.at.factor, k * triangle_of(s), message);
    if (status == WB_OK) put(factor, room.fetched, k * triangle_of(s));
  }
  return status;
}

/* Waits for the pass over the rows, and says where a component had not been drawn. */
int finish_labels(wb_mixture_session *s, double *sizes, double *log_likelihood, wb_message *message) {
  mixture_room &room = s->room;
  const size_t k = static_cast<size_t>(room.count);
  launch_shape shape;
  shape.blocks = dim3(static_cast<unsigned>(ceiling(room.count, GATHER_THREADS)));
  shape.threads = dim3(GATHER_THREADS);
  shape.stream = s->stream.get();
  int status = launch(shape, mixture_gather, "counting rows", message, room.at, room.answer);
  if (status == WB_OK) status = fetch(s, s->stream, room.answer, 2 * k + 1, message);
  if (status == WB_OK) status = all_drawn(room.fetched + k, room.count, message);
  if (status != WB_OK) return status;
  *log_likelihood = room.fetched[2 * k];
  if (s->data.sample == nullptr) {
    put(sizes, room.fetched, k);
    return WB_OK;
  }
  std::memset(sizes, 0, sample_table(s, room.count) * sizeof(double));
  return add_samples(s, sizes, message);
}

} // namespace

int set_part_sums(wb_mixture_session *s, const double *sums, wb_message *message) {
  return on_device(s, message, [&] {
    const size_t values = node_size(s, s->room.count);
    put(s->room.fetched, sums, values);
    const int status = send(s->stream, s->room.at.statistics, s->room.fetched, values, message);
    return status == WB_OK ? s->stream.wait("sending the sums of rows", message) : status;
  });
}

int add_part_sizes(wb_mixture_session *s, double *sizes, wb_message *message) {
  if (s->data.sample == nullptr) return WB_OK;
  return on_device(s, message, [&] { return add_samples(s, sizes, message); });
}

template <typename Real>
int send_components(wb_mixture_session *s, const double *log_weight, const mixture_draw_kernel<Real> &draw, Real *coefficients,
                    wb_message *message) {
  mixture_room &room = s->room;
  const size_t k = static_cast<size_t>(room.count);
  /* The weights of several samples are added to each row: send_shares(). */
  if (s->data.sample == nullptr)
    put(room.sent_weight, log_weight, k);
  else
    std::memset(room.sent_weight, 0, k * sizeof(double));
  const int status = send(s->stream, room.at.log_weight, room.sent_weight, k, message);
  if (status != WB_OK) return status;
  launch_shape shape;
  shape.blocks = dim3(static_cast<unsigned>(k));
  shape.threads = dim3(ENTRY_THREADS);
  shape.stream = s->stream.get();
  if constexpr (sizeof(Real) == sizeof(double)) {
    if (draw.fragments) {
      shape.blocks = dim3(static_cast<unsigned>(fragment_blocks(room.count)), static_cast<unsigned>(s->data.columns + 1));
      return launch(shape, mixture_pack_fragments, "laying out components", message, room.at, coefficients);
    }
  }
  return launch(shape, mixture_pack<Real>, "laying out components", message, room.at, draw.order, coefficients);
}

template int send_components(wb_mixture_session *, const double *, const mixture_draw_kernel<double> &, double *, wb_message *);
template int send_components(wb_mixture_session *, const double *, const mixture_draw_kernel<float> &, float *, wb_message *);

} // namespace wb

int wb_cuda_mixture_set_components(wb_mixture_session *session, int32_t components, const double *statistics,
                                   wb_message *message) {
  return wb::on_device(session, message, [&] {
    int status = wb::check_components(components, message);
    if (status == WB_OK && session->room.count != components)
      status = wb::with_memory(session, message, [&] { return wb::open_room(session, components, message); });
    return status == WB_OK ? wb::set_statistics(session, 0, components, statistics, message) : status;
  });
}

int wb_cuda_mixture_set_statistics(wb_mixture_session *session, int32_t first, int32_t count, const double *statistics,
                                   wb_message *message) {
  return wb::on_device(session, message, [&] { return wb::set_statistics(session, first, count, statistics, message); });
}

int wb_cuda_mixture_get_statistics(wb_mixture_session *session, int32_t first, int32_t count, double *statistics,
                                   wb_message *message) {
  return wb::on_device(session, message, [&] { return wb::get_statistics(session, first, count, statistics, message); });
}

int wb_cuda_mixture_draw_components(wb_mixture_session *session, const wb_mixture_law *law, const int32_t *source,
                                    uint64_t key, uint32_t iteration, wb_message *message) {
  return wb::on_device(session, message, [&] { return wb::draw_components(session, law, source, key, iteration, message); });
}

int wb_cuda_mixture_add_precisions(wb_mixture_session *session, const wb_mixture_precisions *sums, wb_message *message) {
  return wb::on_device(session, message, [&] { return wb::add_precisions(session, sums, message); });
}

int wb_cuda_mixture_measure(wb_mixture_session *session, const wb_mixture_measures *measures, wb_message *message) {
  return wb::on_device(session, message, [&] { return wb::measure(session, measures, message); });
}

int wb_cuda_mixture_finish_labels(wb_mixture_session *session, double *sizes, double *log_likelihood, wb_message *message) {
  return wb::on_device(session, message, [&] { return wb::finish_labels(session, sizes, log_likelihood, message); });
}

int wb_cuda_mixture_get_components(wb_mixture_session *session, double *mean, double *factor, wb_message *message) {
  return wb::on_device(session, message, [&] { return wb::get_components(session, mean, factor, message); });
}
