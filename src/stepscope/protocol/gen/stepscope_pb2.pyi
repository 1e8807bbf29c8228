from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class DataType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DT_UNDEFINED: _ClassVar[DataType]
    DT_BOOL: _ClassVar[DataType]
    DT_INT8: _ClassVar[DataType]
    DT_INT16: _ClassVar[DataType]
    DT_INT32: _ClassVar[DataType]
    DT_INT64: _ClassVar[DataType]
    DT_UINT8: _ClassVar[DataType]
    DT_UINT16: _ClassVar[DataType]
    DT_UINT32: _ClassVar[DataType]
    DT_UINT64: _ClassVar[DataType]
    DT_FLOAT16: _ClassVar[DataType]
    DT_FLOAT32: _ClassVar[DataType]
    DT_FLOAT64: _ClassVar[DataType]
    DT_STRING: _ClassVar[DataType]
    DT_TENSOR: _ClassVar[DataType]
    DT_GRAPH: _ClassVar[DataType]
    DT_BOOLS: _ClassVar[DataType]
    DT_INTS8: _ClassVar[DataType]
    DT_INTS16: _ClassVar[DataType]
    DT_INTS32: _ClassVar[DataType]
    DT_INTS64: _ClassVar[DataType]
    DT_UINTS8: _ClassVar[DataType]
    DT_UINTS16: _ClassVar[DataType]
    DT_UINTS32: _ClassVar[DataType]
    DT_UINTS64: _ClassVar[DataType]
    DT_FLOATS16: _ClassVar[DataType]
    DT_FLOATS32: _ClassVar[DataType]
    DT_FLOATS64: _ClassVar[DataType]
    DT_STRINGS: _ClassVar[DataType]
    DT_TENSORS: _ClassVar[DataType]
    DT_GRAPHS: _ClassVar[DataType]
    DT_TUPLE: _ClassVar[DataType]
    DT_LIST: _ClassVar[DataType]
    DT_DICT: _ClassVar[DataType]
    DT_NONE: _ClassVar[DataType]
    DT_SYM_INST: _ClassVar[DataType]
    DT_BASE_INT: _ClassVar[DataType]
    DT_BASE_UINT: _ClassVar[DataType]
    DT_BASE_FLOAT: _ClassVar[DataType]
    DT_TYPE: _ClassVar[DataType]
    DT_ANYTHING: _ClassVar[DataType]
    DT_REFKEY: _ClassVar[DataType]
    DT_REF: _ClassVar[DataType]
    DT_UMONAD: _ClassVar[DataType]
    DT_IOMONAD: _ClassVar[DataType]
    DT_BASE_COMPLEX: _ClassVar[DataType]
    DT_BFLOAT16: _ClassVar[DataType]
    DT_BFLOATS16: _ClassVar[DataType]
    DT_INT4: _ClassVar[DataType]
    DT_SLICE: _ClassVar[DataType]
    DT_COMPLEX64: _ClassVar[DataType]
    DT_COMPLEX128: _ClassVar[DataType]
    DT_FLOAT8_E4M3FN: _ClassVar[DataType]
    DT_FLOAT8_E5M2: _ClassVar[DataType]
    DT_FLOAT8_E4M3FNUZ: _ClassVar[DataType]
    DT_FLOAT8_E5M2FNUZ: _ClassVar[DataType]
DT_UNDEFINED: DataType
DT_BOOL: DataType
DT_INT8: DataType
DT_INT16: DataType
DT_INT32: DataType
DT_INT64: DataType
DT_UINT8: DataType
DT_UINT16: DataType
DT_UINT32: DataType
DT_UINT64: DataType
DT_FLOAT16: DataType
DT_FLOAT32: DataType
DT_FLOAT64: DataType
DT_STRING: DataType
DT_TENSOR: DataType
DT_GRAPH: DataType
DT_BOOLS: DataType
DT_INTS8: DataType
DT_INTS16: DataType
DT_INTS32: DataType
DT_INTS64: DataType
DT_UINTS8: DataType
DT_UINTS16: DataType
DT_UINTS32: DataType
DT_UINTS64: DataType
DT_FLOATS16: DataType
DT_FLOATS32: DataType
DT_FLOATS64: DataType
DT_STRINGS: DataType
DT_TENSORS: DataType
DT_GRAPHS: DataType
DT_TUPLE: DataType
DT_LIST: DataType
DT_DICT: DataType
DT_NONE: DataType
DT_SYM_INST: DataType
DT_BASE_INT: DataType
DT_BASE_UINT: DataType
DT_BASE_FLOAT: DataType
DT_TYPE: DataType
DT_ANYTHING: DataType
DT_REFKEY: DataType
DT_REF: DataType
DT_UMONAD: DataType
DT_IOMONAD: DataType
DT_BASE_COMPLEX: DataType
DT_BFLOAT16: DataType
DT_BFLOATS16: DataType
DT_INT4: DataType
DT_SLICE: DataType
DT_COMPLEX64: DataType
DT_COMPLEX128: DataType
DT_FLOAT8_E4M3FN: DataType
DT_FLOAT8_E5M2: DataType
DT_FLOAT8_E4M3FNUZ: DataType
DT_FLOAT8_E5M2FNUZ: DataType

class Metadata(_message.Message):
    __slots__ = ("device_name", "cur_step", "backend", "cur_node", "training_done", "graph_num", "ms_version")
    DEVICE_NAME_FIELD_NUMBER: _ClassVar[int]
    CUR_STEP_FIELD_NUMBER: _ClassVar[int]
    BACKEND_FIELD_NUMBER: _ClassVar[int]
    CUR_NODE_FIELD_NUMBER: _ClassVar[int]
    TRAINING_DONE_FIELD_NUMBER: _ClassVar[int]
    GRAPH_NUM_FIELD_NUMBER: _ClassVar[int]
    MS_VERSION_FIELD_NUMBER: _ClassVar[int]
    device_name: str
    cur_step: int
    backend: str
    cur_node: str
    training_done: bool
    graph_num: int
    ms_version: str
    def __init__(self, device_name: _Optional[str] = ..., cur_step: _Optional[int] = ..., backend: _Optional[str] = ..., cur_node: _Optional[str] = ..., training_done: bool = ..., graph_num: _Optional[int] = ..., ms_version: _Optional[str] = ...) -> None: ...

class Heartbeat(_message.Message):
    __slots__ = ("message", "period")
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    PERIOD_FIELD_NUMBER: _ClassVar[int]
    message: str
    period: int
    def __init__(self, message: _Optional[str] = ..., period: _Optional[int] = ...) -> None: ...

class Chunk(_message.Message):
    __slots__ = ("buffer", "finished", "graph_name")
    BUFFER_FIELD_NUMBER: _ClassVar[int]
    FINISHED_FIELD_NUMBER: _ClassVar[int]
    GRAPH_NAME_FIELD_NUMBER: _ClassVar[int]
    buffer: bytes
    finished: bool
    graph_name: str
    def __init__(self, buffer: _Optional[bytes] = ..., finished: bool = ..., graph_name: _Optional[str] = ...) -> None: ...

class EventReply(_message.Message):
    __slots__ = ("status", "exit", "run_cmd", "set_cmd", "view_cmd", "version_matched")
    class Status(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        OK: _ClassVar[EventReply.Status]
        FAILED: _ClassVar[EventReply.Status]
        PENDING: _ClassVar[EventReply.Status]
    OK: EventReply.Status
    FAILED: EventReply.Status
    PENDING: EventReply.Status
    STATUS_FIELD_NUMBER: _ClassVar[int]
    EXIT_FIELD_NUMBER: _ClassVar[int]
    RUN_CMD_FIELD_NUMBER: _ClassVar[int]
    SET_CMD_FIELD_NUMBER: _ClassVar[int]
    VIEW_CMD_FIELD_NUMBER: _ClassVar[int]
    VERSION_MATCHED_FIELD_NUMBER: _ClassVar[int]
    status: EventReply.Status
    exit: bool
    run_cmd: RunCMD
    set_cmd: SetCMD
    view_cmd: ViewCMD
    version_matched: bool
    def __init__(self, status: _Optional[_Union[EventReply.Status, str]] = ..., exit: bool = ..., run_cmd: _Optional[_Union[RunCMD, _Mapping]] = ..., set_cmd: _Optional[_Union[SetCMD, _Mapping]] = ..., view_cmd: _Optional[_Union[ViewCMD, _Mapping]] = ..., version_matched: bool = ...) -> None: ...

class RunCMD(_message.Message):
    __slots__ = ("run_level", "run_steps", "node_name")
    RUN_LEVEL_FIELD_NUMBER: _ClassVar[int]
    RUN_STEPS_FIELD_NUMBER: _ClassVar[int]
    NODE_NAME_FIELD_NUMBER: _ClassVar[int]
    run_level: str
    run_steps: int
    node_name: str
    def __init__(self, run_level: _Optional[str] = ..., run_steps: _Optional[int] = ..., node_name: _Optional[str] = ...) -> None: ...

class SetCMD(_message.Message):
    __slots__ = ("watch_nodes", "watch_condition", "delete", "id")
    WATCH_NODES_FIELD_NUMBER: _ClassVar[int]
    WATCH_CONDITION_FIELD_NUMBER: _ClassVar[int]
    DELETE_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    watch_nodes: _containers.RepeatedCompositeFieldContainer[WatchNode]
    watch_condition: WatchCondition
    delete: bool
    id: int
    def __init__(self, watch_nodes: _Optional[_Iterable[_Union[WatchNode, _Mapping]]] = ..., watch_condition: _Optional[_Union[WatchCondition, _Mapping]] = ..., delete: bool = ..., id: _Optional[int] = ...) -> None: ...

class ViewCMD(_message.Message):
    __slots__ = ("tensors", "level")
    class Level(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        value: _ClassVar[ViewCMD.Level]
        statistics: _ClassVar[ViewCMD.Level]
        base: _ClassVar[ViewCMD.Level]
    value: ViewCMD.Level
    statistics: ViewCMD.Level
    base: ViewCMD.Level
    TENSORS_FIELD_NUMBER: _ClassVar[int]
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    tensors: _containers.RepeatedCompositeFieldContainer[TensorProto]
    level: ViewCMD.Level
    def __init__(self, tensors: _Optional[_Iterable[_Union[TensorProto, _Mapping]]] = ..., level: _Optional[_Union[ViewCMD.Level, str]] = ...) -> None: ...

class WatchNode(_message.Message):
    __slots__ = ("node_name", "node_type", "graph_name", "rank_id", "device_id")
    NODE_NAME_FIELD_NUMBER: _ClassVar[int]
    NODE_TYPE_FIELD_NUMBER: _ClassVar[int]
    GRAPH_NAME_FIELD_NUMBER: _ClassVar[int]
    RANK_ID_FIELD_NUMBER: _ClassVar[int]
    DEVICE_ID_FIELD_NUMBER: _ClassVar[int]
    node_name: str
    node_type: str
    graph_name: str
    rank_id: int
    device_id: int
    def __init__(self, node_name: _Optional[str] = ..., node_type: _Optional[str] = ..., graph_name: _Optional[str] = ..., rank_id: _Optional[int] = ..., device_id: _Optional[int] = ...) -> None: ...

class WatchCondition(_message.Message):
    __slots__ = ("condition", "value", "params")
    class Condition(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        nan: _ClassVar[WatchCondition.Condition]
        overflow: _ClassVar[WatchCondition.Condition]
        sd_gt: _ClassVar[WatchCondition.Condition]
        sd_lt: _ClassVar[WatchCondition.Condition]
        tensor_general_overflow: _ClassVar[WatchCondition.Condition]
        tensor_initialization: _ClassVar[WatchCondition.Condition]
        tensor_too_large: _ClassVar[WatchCondition.Condition]
        tensor_too_small: _ClassVar[WatchCondition.Condition]
        tensor_all_zero: _ClassVar[WatchCondition.Condition]
        tensor_change_too_large: _ClassVar[WatchCondition.Condition]
        tensor_change_too_small: _ClassVar[WatchCondition.Condition]
        tensor_not_changed: _ClassVar[WatchCondition.Condition]
        tensor_range: _ClassVar[WatchCondition.Condition]
    nan: WatchCondition.Condition
    overflow: WatchCondition.Condition
    sd_gt: WatchCondition.Condition
    sd_lt: WatchCondition.Condition
    tensor_general_overflow: WatchCondition.Condition
    tensor_initialization: WatchCondition.Condition
    tensor_too_large: WatchCondition.Condition
    tensor_too_small: WatchCondition.Condition
    tensor_all_zero: WatchCondition.Condition
    tensor_change_too_large: WatchCondition.Condition
    tensor_change_too_small: WatchCondition.Condition
    tensor_not_changed: WatchCondition.Condition
    tensor_range: WatchCondition.Condition
    class Parameter(_message.Message):
        __slots__ = ("name", "disabled", "value", "hit", "actual_value")
        NAME_FIELD_NUMBER: _ClassVar[int]
        DISABLED_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        HIT_FIELD_NUMBER: _ClassVar[int]
        ACTUAL_VALUE_FIELD_NUMBER: _ClassVar[int]
        name: str
        disabled: bool
        value: float
        hit: bool
        actual_value: float
        def __init__(self, name: _Optional[str] = ..., disabled: bool = ..., value: _Optional[float] = ..., hit: bool = ..., actual_value: _Optional[float] = ...) -> None: ...
    CONDITION_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    PARAMS_FIELD_NUMBER: _ClassVar[int]
    condition: WatchCondition.Condition
    value: float
    params: _containers.RepeatedCompositeFieldContainer[WatchCondition.Parameter]
    def __init__(self, condition: _Optional[_Union[WatchCondition.Condition, str]] = ..., value: _Optional[float] = ..., params: _Optional[_Iterable[_Union[WatchCondition.Parameter, _Mapping]]] = ...) -> None: ...

class WatchpointHit(_message.Message):
    __slots__ = ("tensor", "watch_condition", "id", "error_code")
    TENSOR_FIELD_NUMBER: _ClassVar[int]
    WATCH_CONDITION_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    ERROR_CODE_FIELD_NUMBER: _ClassVar[int]
    tensor: TensorProto
    watch_condition: WatchCondition
    id: int
    error_code: int
    def __init__(self, tensor: _Optional[_Union[TensorProto, _Mapping]] = ..., watch_condition: _Optional[_Union[WatchCondition, _Mapping]] = ..., id: _Optional[int] = ..., error_code: _Optional[int] = ...) -> None: ...

class TensorProto(_message.Message):
    __slots__ = ("node_name", "slot", "tensor_content", "dims", "data_type", "finished", "iter", "truncate")
    NODE_NAME_FIELD_NUMBER: _ClassVar[int]
    SLOT_FIELD_NUMBER: _ClassVar[int]
    TENSOR_CONTENT_FIELD_NUMBER: _ClassVar[int]
    DIMS_FIELD_NUMBER: _ClassVar[int]
    DATA_TYPE_FIELD_NUMBER: _ClassVar[int]
    FINISHED_FIELD_NUMBER: _ClassVar[int]
    ITER_FIELD_NUMBER: _ClassVar[int]
    TRUNCATE_FIELD_NUMBER: _ClassVar[int]
    node_name: str
    slot: str
    tensor_content: bytes
    dims: _containers.RepeatedScalarFieldContainer[int]
    data_type: DataType
    finished: bool
    iter: str
    truncate: bool
    def __init__(self, node_name: _Optional[str] = ..., slot: _Optional[str] = ..., tensor_content: _Optional[bytes] = ..., dims: _Optional[_Iterable[int]] = ..., data_type: _Optional[_Union[DataType, str]] = ..., finished: bool = ..., iter: _Optional[str] = ..., truncate: bool = ...) -> None: ...

class TensorBase(_message.Message):
    __slots__ = ("data_type", "shape", "data_size")
    DATA_TYPE_FIELD_NUMBER: _ClassVar[int]
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    DATA_SIZE_FIELD_NUMBER: _ClassVar[int]
    data_type: int
    shape: _containers.RepeatedScalarFieldContainer[int]
    data_size: int
    def __init__(self, data_type: _Optional[int] = ..., shape: _Optional[_Iterable[int]] = ..., data_size: _Optional[int] = ...) -> None: ...

class Statistics(_message.Message):
    __slots__ = ("is_bool", "max_value", "min_value", "avg_value", "count", "neg_zero_count", "pos_zero_count", "nan_count", "neg_inf_count", "pos_inf_count", "zero_count")
    IS_BOOL_FIELD_NUMBER: _ClassVar[int]
    MAX_VALUE_FIELD_NUMBER: _ClassVar[int]
    MIN_VALUE_FIELD_NUMBER: _ClassVar[int]
    AVG_VALUE_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    NEG_ZERO_COUNT_FIELD_NUMBER: _ClassVar[int]
    POS_ZERO_COUNT_FIELD_NUMBER: _ClassVar[int]
    NAN_COUNT_FIELD_NUMBER: _ClassVar[int]
    NEG_INF_COUNT_FIELD_NUMBER: _ClassVar[int]
    POS_INF_COUNT_FIELD_NUMBER: _ClassVar[int]
    ZERO_COUNT_FIELD_NUMBER: _ClassVar[int]
    is_bool: bool
    max_value: float
    min_value: float
    avg_value: float
    count: int
    neg_zero_count: int
    pos_zero_count: int
    nan_count: int
    neg_inf_count: int
    pos_inf_count: int
    zero_count: int
    def __init__(self, is_bool: bool = ..., max_value: _Optional[float] = ..., min_value: _Optional[float] = ..., avg_value: _Optional[float] = ..., count: _Optional[int] = ..., neg_zero_count: _Optional[int] = ..., pos_zero_count: _Optional[int] = ..., nan_count: _Optional[int] = ..., neg_inf_count: _Optional[int] = ..., pos_inf_count: _Optional[int] = ..., zero_count: _Optional[int] = ...) -> None: ...

class TensorSummary(_message.Message):
    __slots__ = ("tensor_base", "statistics")
    TENSOR_BASE_FIELD_NUMBER: _ClassVar[int]
    STATISTICS_FIELD_NUMBER: _ClassVar[int]
    tensor_base: TensorBase
    statistics: Statistics
    def __init__(self, tensor_base: _Optional[_Union[TensorBase, _Mapping]] = ..., statistics: _Optional[_Union[Statistics, _Mapping]] = ...) -> None: ...

class TensorShapeProto(_message.Message):
    __slots__ = ("dim",)
    class Dimension(_message.Message):
        __slots__ = ("size", "name")
        SIZE_FIELD_NUMBER: _ClassVar[int]
        NAME_FIELD_NUMBER: _ClassVar[int]
        size: int
        name: str
        def __init__(self, size: _Optional[int] = ..., name: _Optional[str] = ...) -> None: ...
    DIM_FIELD_NUMBER: _ClassVar[int]
    dim: _containers.RepeatedCompositeFieldContainer[TensorShapeProto.Dimension]
    def __init__(self, dim: _Optional[_Iterable[_Union[TensorShapeProto.Dimension, _Mapping]]] = ...) -> None: ...

class TypeProto(_message.Message):
    __slots__ = ("data_type", "tensor_type", "sequence_type")
    class Tensor(_message.Message):
        __slots__ = ("elem_type", "shape")
        ELEM_TYPE_FIELD_NUMBER: _ClassVar[int]
        SHAPE_FIELD_NUMBER: _ClassVar[int]
        elem_type: DataType
        shape: TensorShapeProto
        def __init__(self, elem_type: _Optional[_Union[DataType, str]] = ..., shape: _Optional[_Union[TensorShapeProto, _Mapping]] = ...) -> None: ...
    class Sequence(_message.Message):
        __slots__ = ("elem_types",)
        ELEM_TYPES_FIELD_NUMBER: _ClassVar[int]
        elem_types: _containers.RepeatedCompositeFieldContainer[TypeProto]
        def __init__(self, elem_types: _Optional[_Iterable[_Union[TypeProto, _Mapping]]] = ...) -> None: ...
    DATA_TYPE_FIELD_NUMBER: _ClassVar[int]
    TENSOR_TYPE_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_TYPE_FIELD_NUMBER: _ClassVar[int]
    data_type: DataType
    tensor_type: TypeProto.Tensor
    sequence_type: TypeProto.Sequence
    def __init__(self, data_type: _Optional[_Union[DataType, str]] = ..., tensor_type: _Optional[_Union[TypeProto.Tensor, _Mapping]] = ..., sequence_type: _Optional[_Union[TypeProto.Sequence, _Mapping]] = ...) -> None: ...

class ValueProto(_message.Message):
    __slots__ = ("dtype", "bool_val", "int_val", "uint_val", "float_val", "double_val", "str_val", "tensor_val", "graph", "bool_vals", "int_vals", "uint_vals", "float_vals", "double_vals", "str_vals", "tensor_vals", "graphs", "values", "dict_val", "type_val")
    DTYPE_FIELD_NUMBER: _ClassVar[int]
    BOOL_VAL_FIELD_NUMBER: _ClassVar[int]
    INT_VAL_FIELD_NUMBER: _ClassVar[int]
    UINT_VAL_FIELD_NUMBER: _ClassVar[int]
    FLOAT_VAL_FIELD_NUMBER: _ClassVar[int]
    DOUBLE_VAL_FIELD_NUMBER: _ClassVar[int]
    STR_VAL_FIELD_NUMBER: _ClassVar[int]
    TENSOR_VAL_FIELD_NUMBER: _ClassVar[int]
    GRAPH_FIELD_NUMBER: _ClassVar[int]
    BOOL_VALS_FIELD_NUMBER: _ClassVar[int]
    INT_VALS_FIELD_NUMBER: _ClassVar[int]
    UINT_VALS_FIELD_NUMBER: _ClassVar[int]
    FLOAT_VALS_FIELD_NUMBER: _ClassVar[int]
    DOUBLE_VALS_FIELD_NUMBER: _ClassVar[int]
    STR_VALS_FIELD_NUMBER: _ClassVar[int]
    TENSOR_VALS_FIELD_NUMBER: _ClassVar[int]
    GRAPHS_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    DICT_VAL_FIELD_NUMBER: _ClassVar[int]
    TYPE_VAL_FIELD_NUMBER: _ClassVar[int]
    dtype: DataType
    bool_val: bool
    int_val: int
    uint_val: int
    float_val: float
    double_val: float
    str_val: str
    tensor_val: TensorProto
    graph: GraphProto
    bool_vals: _containers.RepeatedScalarFieldContainer[bool]
    int_vals: _containers.RepeatedScalarFieldContainer[int]
    uint_vals: _containers.RepeatedScalarFieldContainer[int]
    float_vals: _containers.RepeatedScalarFieldContainer[float]
    double_vals: _containers.RepeatedScalarFieldContainer[float]
    str_vals: _containers.RepeatedScalarFieldContainer[str]
    tensor_vals: _containers.RepeatedCompositeFieldContainer[TensorProto]
    graphs: _containers.RepeatedCompositeFieldContainer[GraphProto]
    values: _containers.RepeatedCompositeFieldContainer[ValueProto]
    dict_val: _containers.RepeatedCompositeFieldContainer[NamedValueProto]
    type_val: TypeProto
    def __init__(self, dtype: _Optional[_Union[DataType, str]] = ..., bool_val: bool = ..., int_val: _Optional[int] = ..., uint_val: _Optional[int] = ..., float_val: _Optional[float] = ..., double_val: _Optional[float] = ..., str_val: _Optional[str] = ..., tensor_val: _Optional[_Union[TensorProto, _Mapping]] = ..., graph: _Optional[_Union[GraphProto, _Mapping]] = ..., bool_vals: _Optional[_Iterable[bool]] = ..., int_vals: _Optional[_Iterable[int]] = ..., uint_vals: _Optional[_Iterable[int]] = ..., float_vals: _Optional[_Iterable[float]] = ..., double_vals: _Optional[_Iterable[float]] = ..., str_vals: _Optional[_Iterable[str]] = ..., tensor_vals: _Optional[_Iterable[_Union[TensorProto, _Mapping]]] = ..., graphs: _Optional[_Iterable[_Union[GraphProto, _Mapping]]] = ..., values: _Optional[_Iterable[_Union[ValueProto, _Mapping]]] = ..., dict_val: _Optional[_Iterable[_Union[NamedValueProto, _Mapping]]] = ..., type_val: _Optional[_Union[TypeProto, _Mapping]] = ...) -> None: ...

class AttributeProto(_message.Message):
    __slots__ = ("name", "value")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    name: str
    value: ValueProto
    def __init__(self, name: _Optional[str] = ..., value: _Optional[_Union[ValueProto, _Mapping]] = ...) -> None: ...

class NamedValueProto(_message.Message):
    __slots__ = ("key", "value", "full_name")
    KEY_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    FULL_NAME_FIELD_NUMBER: _ClassVar[int]
    key: str
    value: ValueProto
    full_name: str
    def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[ValueProto, _Mapping]] = ..., full_name: _Optional[str] = ...) -> None: ...

class InputProto(_message.Message):
    __slots__ = ("name", "type", "slot")
    class EdgeType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        DATA_EDGE: _ClassVar[InputProto.EdgeType]
        CONTROL_EDGE: _ClassVar[InputProto.EdgeType]
    DATA_EDGE: InputProto.EdgeType
    CONTROL_EDGE: InputProto.EdgeType
    NAME_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    SLOT_FIELD_NUMBER: _ClassVar[int]
    name: str
    type: InputProto.EdgeType
    slot: int
    def __init__(self, name: _Optional[str] = ..., type: _Optional[_Union[InputProto.EdgeType, str]] = ..., slot: _Optional[int] = ...) -> None: ...

class NodeProto(_message.Message):
    __slots__ = ("input", "name", "op_type", "scope", "attribute", "output_type", "output_i", "full_name", "source_address")
    INPUT_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    OP_TYPE_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    ATTRIBUTE_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_TYPE_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_I_FIELD_NUMBER: _ClassVar[int]
    FULL_NAME_FIELD_NUMBER: _ClassVar[int]
    SOURCE_ADDRESS_FIELD_NUMBER: _ClassVar[int]
    input: _containers.RepeatedCompositeFieldContainer[InputProto]
    name: str
    op_type: str
    scope: str
    attribute: _containers.RepeatedCompositeFieldContainer[AttributeProto]
    output_type: TypeProto
    output_i: int
    full_name: str
    source_address: str
    def __init__(self, input: _Optional[_Iterable[_Union[InputProto, _Mapping]]] = ..., name: _Optional[str] = ..., op_type: _Optional[str] = ..., scope: _Optional[str] = ..., attribute: _Optional[_Iterable[_Union[AttributeProto, _Mapping]]] = ..., output_type: _Optional[_Union[TypeProto, _Mapping]] = ..., output_i: _Optional[int] = ..., full_name: _Optional[str] = ..., source_address: _Optional[str] = ...) -> None: ...

class ParameterProto(_message.Message):
    __slots__ = ("name", "type", "default_val", "role", "trainable")
    class Role(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UNKNOWN: _ClassVar[ParameterProto.Role]
        PARAMETER: _ClassVar[ParameterProto.Role]
        INPUT: _ClassVar[ParameterProto.Role]
    UNKNOWN: ParameterProto.Role
    PARAMETER: ParameterProto.Role
    INPUT: ParameterProto.Role
    NAME_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    DEFAULT_VAL_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    TRAINABLE_FIELD_NUMBER: _ClassVar[int]
    name: str
    type: TypeProto
    default_val: ValueProto
    role: ParameterProto.Role
    trainable: bool
    def __init__(self, name: _Optional[str] = ..., type: _Optional[_Union[TypeProto, _Mapping]] = ..., default_val: _Optional[_Union[ValueProto, _Mapping]] = ..., role: _Optional[_Union[ParameterProto.Role, str]] = ..., trainable: bool = ...) -> None: ...

class OutputProto(_message.Message):
    __slots__ = ("name", "type")
    NAME_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    name: str
    type: TypeProto
    def __init__(self, name: _Optional[str] = ..., type: _Optional[_Union[TypeProto, _Mapping]] = ...) -> None: ...

class GraphProto(_message.Message):
    __slots__ = ("node", "name", "parameters", "outputs", "const_vals", "root_name")
    NODE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PARAMETERS_FIELD_NUMBER: _ClassVar[int]
    OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    CONST_VALS_FIELD_NUMBER: _ClassVar[int]
    ROOT_NAME_FIELD_NUMBER: _ClassVar[int]
    node: _containers.RepeatedCompositeFieldContainer[NodeProto]
    name: str
    parameters: _containers.RepeatedCompositeFieldContainer[ParameterProto]
    outputs: _containers.RepeatedCompositeFieldContainer[OutputProto]
    const_vals: _containers.RepeatedCompositeFieldContainer[NamedValueProto]
    root_name: str
    def __init__(self, node: _Optional[_Iterable[_Union[NodeProto, _Mapping]]] = ..., name: _Optional[str] = ..., parameters: _Optional[_Iterable[_Union[ParameterProto, _Mapping]]] = ..., outputs: _Optional[_Iterable[_Union[OutputProto, _Mapping]]] = ..., const_vals: _Optional[_Iterable[_Union[NamedValueProto, _Mapping]]] = ..., root_name: _Optional[str] = ...) -> None: ...

class ModelProto(_message.Message):
    __slots__ = ("ir_version", "domain", "model_version", "graph")
    IR_VERSION_FIELD_NUMBER: _ClassVar[int]
    DOMAIN_FIELD_NUMBER: _ClassVar[int]
    MODEL_VERSION_FIELD_NUMBER: _ClassVar[int]
    GRAPH_FIELD_NUMBER: _ClassVar[int]
    ir_version: int
    domain: str
    model_version: int
    graph: GraphProto
    def __init__(self, ir_version: _Optional[int] = ..., domain: _Optional[str] = ..., model_version: _Optional[int] = ..., graph: _Optional[_Union[GraphProto, _Mapping]] = ...) -> None: ...

class AgentMessage(_message.Message):
    __slots__ = ("hello", "graph", "report", "answer", "farewell", "hits")
    HELLO_FIELD_NUMBER: _ClassVar[int]
    GRAPH_FIELD_NUMBER: _ClassVar[int]
    REPORT_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    FAREWELL_FIELD_NUMBER: _ClassVar[int]
    HITS_FIELD_NUMBER: _ClassVar[int]
    hello: Hello
    graph: Chunk
    report: Report
    answer: Answer
    farewell: Farewell
    hits: Hits
    def __init__(self, hello: _Optional[_Union[Hello, _Mapping]] = ..., graph: _Optional[_Union[Chunk, _Mapping]] = ..., report: _Optional[_Union[Report, _Mapping]] = ..., answer: _Optional[_Union[Answer, _Mapping]] = ..., farewell: _Optional[_Union[Farewell, _Mapping]] = ..., hits: _Optional[_Union[Hits, _Mapping]] = ...) -> None: ...

class ServerMessage(_message.Message):
    __slots__ = ("welcome", "command", "query", "watchpoints")
    WELCOME_FIELD_NUMBER: _ClassVar[int]
    COMMAND_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    WATCHPOINTS_FIELD_NUMBER: _ClassVar[int]
    welcome: Welcome
    command: Command
    query: Query
    watchpoints: Chunk
    def __init__(self, welcome: _Optional[_Union[Welcome, _Mapping]] = ..., command: _Optional[_Union[Command, _Mapping]] = ..., query: _Optional[_Union[Query, _Mapping]] = ..., watchpoints: _Optional[_Union[Chunk, _Mapping]] = ...) -> None: ...

class Hello(_message.Message):
    __slots__ = ("job_id", "protocol_version", "framework", "framework_version", "device", "rank", "rank_count", "host", "pid", "command_line", "working_directory", "step_unit", "stepping", "started_at", "stepscope_version")
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    PROTOCOL_VERSION_FIELD_NUMBER: _ClassVar[int]
    FRAMEWORK_FIELD_NUMBER: _ClassVar[int]
    FRAMEWORK_VERSION_FIELD_NUMBER: _ClassVar[int]
    DEVICE_FIELD_NUMBER: _ClassVar[int]
    RANK_FIELD_NUMBER: _ClassVar[int]
    RANK_COUNT_FIELD_NUMBER: _ClassVar[int]
    HOST_FIELD_NUMBER: _ClassVar[int]
    PID_FIELD_NUMBER: _ClassVar[int]
    COMMAND_LINE_FIELD_NUMBER: _ClassVar[int]
    WORKING_DIRECTORY_FIELD_NUMBER: _ClassVar[int]
    STEP_UNIT_FIELD_NUMBER: _ClassVar[int]
    STEPPING_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_FIELD_NUMBER: _ClassVar[int]
    STEPSCOPE_VERSION_FIELD_NUMBER: _ClassVar[int]
    job_id: str
    protocol_version: int
    framework: str
    framework_version: str
    device: str
    rank: int
    rank_count: int
    host: str
    pid: int
    command_line: _containers.RepeatedScalarFieldContainer[str]
    working_directory: str
    step_unit: str
    stepping: str
    started_at: float
    stepscope_version: str
    def __init__(self, job_id: _Optional[str] = ..., protocol_version: _Optional[int] = ..., framework: _Optional[str] = ..., framework_version: _Optional[str] = ..., device: _Optional[str] = ..., rank: _Optional[int] = ..., rank_count: _Optional[int] = ..., host: _Optional[str] = ..., pid: _Optional[int] = ..., command_line: _Optional[_Iterable[str]] = ..., working_directory: _Optional[str] = ..., step_unit: _Optional[str] = ..., stepping: _Optional[str] = ..., started_at: _Optional[float] = ..., stepscope_version: _Optional[str] = ...) -> None: ...

class Welcome(_message.Message):
    __slots__ = ("accepted", "reason", "known_graphs", "address")
    ACCEPTED_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    KNOWN_GRAPHS_FIELD_NUMBER: _ClassVar[int]
    ADDRESS_FIELD_NUMBER: _ClassVar[int]
    accepted: bool
    reason: str
    known_graphs: _containers.RepeatedScalarFieldContainer[str]
    address: str
    def __init__(self, accepted: bool = ..., reason: _Optional[str] = ..., known_graphs: _Optional[_Iterable[str]] = ..., address: _Optional[str] = ...) -> None: ...

class Command(_message.Message):
    __slots__ = ("kind", "steps", "graph_name", "node_name", "sequence", "before")
    class Kind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UNKNOWN: _ClassVar[Command.Kind]
        RUN: _ClassVar[Command.Kind]
        PAUSE: _ClassVar[Command.Kind]
        TERMINATE: _ClassVar[Command.Kind]
        NEXT_NODE: _ClassVar[Command.Kind]
        PREVIOUS_NODE: _ClassVar[Command.Kind]
        RUN_TO_NODE: _ClassVar[Command.Kind]
        RECHECK: _ClassVar[Command.Kind]
    UNKNOWN: Command.Kind
    RUN: Command.Kind
    PAUSE: Command.Kind
    TERMINATE: Command.Kind
    NEXT_NODE: Command.Kind
    PREVIOUS_NODE: Command.Kind
    RUN_TO_NODE: Command.Kind
    RECHECK: Command.Kind
    KIND_FIELD_NUMBER: _ClassVar[int]
    STEPS_FIELD_NUMBER: _ClassVar[int]
    GRAPH_NAME_FIELD_NUMBER: _ClassVar[int]
    NODE_NAME_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    kind: Command.Kind
    steps: int
    graph_name: str
    node_name: str
    sequence: int
    before: bool
    def __init__(self, kind: _Optional[_Union[Command.Kind, str]] = ..., steps: _Optional[int] = ..., graph_name: _Optional[str] = ..., node_name: _Optional[str] = ..., sequence: _Optional[int] = ..., before: bool = ...) -> None: ...

class Report(_message.Message):
    __slots__ = ("state", "step", "reason", "cursor", "recorded_steps", "loss", "step_seconds", "command_sequence", "warning", "notes", "skipped_updates")
    class State(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UNKNOWN: _ClassVar[Report.State]
        RUNNING: _ClassVar[Report.State]
        PAUSED: _ClassVar[Report.State]
    UNKNOWN: Report.State
    RUNNING: Report.State
    PAUSED: Report.State
    STATE_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    RECORDED_STEPS_FIELD_NUMBER: _ClassVar[int]
    LOSS_FIELD_NUMBER: _ClassVar[int]
    STEP_SECONDS_FIELD_NUMBER: _ClassVar[int]
    COMMAND_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    WARNING_FIELD_NUMBER: _ClassVar[int]
    NOTES_FIELD_NUMBER: _ClassVar[int]
    SKIPPED_UPDATES_FIELD_NUMBER: _ClassVar[int]
    state: Report.State
    step: int
    reason: str
    cursor: Cursor
    recorded_steps: _containers.RepeatedScalarFieldContainer[int]
    loss: float
    step_seconds: float
    command_sequence: int
    warning: str
    notes: _containers.RepeatedScalarFieldContainer[str]
    skipped_updates: int
    def __init__(self, state: _Optional[_Union[Report.State, str]] = ..., step: _Optional[int] = ..., reason: _Optional[str] = ..., cursor: _Optional[_Union[Cursor, _Mapping]] = ..., recorded_steps: _Optional[_Iterable[int]] = ..., loss: _Optional[float] = ..., step_seconds: _Optional[float] = ..., command_sequence: _Optional[int] = ..., warning: _Optional[str] = ..., notes: _Optional[_Iterable[str]] = ..., skipped_updates: _Optional[int] = ...) -> None: ...

class Cursor(_message.Message):
    __slots__ = ("graph_name", "node_name", "position", "count", "before")
    GRAPH_NAME_FIELD_NUMBER: _ClassVar[int]
    NODE_NAME_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    graph_name: str
    node_name: str
    position: int
    count: int
    before: bool
    def __init__(self, graph_name: _Optional[str] = ..., node_name: _Optional[str] = ..., position: _Optional[int] = ..., count: _Optional[int] = ..., before: bool = ...) -> None: ...

class Farewell(_message.Message):
    __slots__ = ("outcome", "detail", "exit_status")
    class Outcome(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UNKNOWN: _ClassVar[Farewell.Outcome]
        FINISHED: _ClassVar[Farewell.Outcome]
        TERMINATED: _ClassVar[Farewell.Outcome]
        LOST: _ClassVar[Farewell.Outcome]
    UNKNOWN: Farewell.Outcome
    FINISHED: Farewell.Outcome
    TERMINATED: Farewell.Outcome
    LOST: Farewell.Outcome
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    EXIT_STATUS_FIELD_NUMBER: _ClassVar[int]
    outcome: Farewell.Outcome
    detail: str
    exit_status: int
    def __init__(self, outcome: _Optional[_Union[Farewell.Outcome, str]] = ..., detail: _Optional[str] = ..., exit_status: _Optional[int] = ...) -> None: ...

class TensorKey(_message.Message):
    __slots__ = ("graph_name", "node_name", "slot", "input", "when")
    class When(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        CURRENT: _ClassVar[TensorKey.When]
        PREVIOUS: _ClassVar[TensorKey.When]
    CURRENT: TensorKey.When
    PREVIOUS: TensorKey.When
    GRAPH_NAME_FIELD_NUMBER: _ClassVar[int]
    NODE_NAME_FIELD_NUMBER: _ClassVar[int]
    SLOT_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    WHEN_FIELD_NUMBER: _ClassVar[int]
    graph_name: str
    node_name: str
    slot: int
    input: int
    when: TensorKey.When
    def __init__(self, graph_name: _Optional[str] = ..., node_name: _Optional[str] = ..., slot: _Optional[int] = ..., input: _Optional[int] = ..., when: _Optional[_Union[TensorKey.When, str]] = ...) -> None: ...

class Query(_message.Message):
    __slots__ = ("id", "tensor", "statistics", "comparison", "execution", "look", "frames", "attributes")
    ID_FIELD_NUMBER: _ClassVar[int]
    TENSOR_FIELD_NUMBER: _ClassVar[int]
    STATISTICS_FIELD_NUMBER: _ClassVar[int]
    COMPARISON_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_FIELD_NUMBER: _ClassVar[int]
    LOOK_FIELD_NUMBER: _ClassVar[int]
    FRAMES_FIELD_NUMBER: _ClassVar[int]
    ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    id: int
    tensor: TensorQuery
    statistics: TensorKey
    comparison: TensorKey
    execution: ExecutionQuery
    look: LookQuery
    frames: FramesQuery
    attributes: AttributesQuery
    def __init__(self, id: _Optional[int] = ..., tensor: _Optional[_Union[TensorQuery, _Mapping]] = ..., statistics: _Optional[_Union[TensorKey, _Mapping]] = ..., comparison: _Optional[_Union[TensorKey, _Mapping]] = ..., execution: _Optional[_Union[ExecutionQuery, _Mapping]] = ..., look: _Optional[_Union[LookQuery, _Mapping]] = ..., frames: _Optional[_Union[FramesQuery, _Mapping]] = ..., attributes: _Optional[_Union[AttributesQuery, _Mapping]] = ...) -> None: ...

class TensorQuery(_message.Message):
    __slots__ = ("key", "index")
    KEY_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    key: TensorKey
    index: str
    def __init__(self, key: _Optional[_Union[TensorKey, _Mapping]] = ..., index: _Optional[str] = ...) -> None: ...

class FramesQuery(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class AttributesQuery(_message.Message):
    __slots__ = ("graph_name", "node_name")
    GRAPH_NAME_FIELD_NUMBER: _ClassVar[int]
    NODE_NAME_FIELD_NUMBER: _ClassVar[int]
    graph_name: str
    node_name: str
    def __init__(self, graph_name: _Optional[str] = ..., node_name: _Optional[str] = ...) -> None: ...

class ExecutionQuery(_message.Message):
    __slots__ = ("offset", "limit")
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    offset: int
    limit: int
    def __init__(self, offset: _Optional[int] = ..., limit: _Optional[int] = ...) -> None: ...

class Answer(_message.Message):
    __slots__ = ("id", "failure", "tensor", "statistics", "comparison", "execution", "look", "frames", "attributes")
    ID_FIELD_NUMBER: _ClassVar[int]
    FAILURE_FIELD_NUMBER: _ClassVar[int]
    TENSOR_FIELD_NUMBER: _ClassVar[int]
    STATISTICS_FIELD_NUMBER: _ClassVar[int]
    COMPARISON_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_FIELD_NUMBER: _ClassVar[int]
    LOOK_FIELD_NUMBER: _ClassVar[int]
    FRAMES_FIELD_NUMBER: _ClassVar[int]
    ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    id: int
    failure: Failure
    tensor: TensorPart
    statistics: TensorStatistics
    comparison: TensorComparison
    execution: ExecutionOrder
    look: TensorLook
    frames: Frames
    attributes: NodeAttributes
    def __init__(self, id: _Optional[int] = ..., failure: _Optional[_Union[Failure, _Mapping]] = ..., tensor: _Optional[_Union[TensorPart, _Mapping]] = ..., statistics: _Optional[_Union[TensorStatistics, _Mapping]] = ..., comparison: _Optional[_Union[TensorComparison, _Mapping]] = ..., execution: _Optional[_Union[ExecutionOrder, _Mapping]] = ..., look: _Optional[_Union[TensorLook, _Mapping]] = ..., frames: _Optional[_Union[Frames, _Mapping]] = ..., attributes: _Optional[_Union[NodeAttributes, _Mapping]] = ...) -> None: ...

class Failure(_message.Message):
    __slots__ = ("kind", "message", "field", "code")
    KIND_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    FIELD_FIELD_NUMBER: _ClassVar[int]
    CODE_FIELD_NUMBER: _ClassVar[int]
    kind: str
    message: str
    field: str
    code: str
    def __init__(self, kind: _Optional[str] = ..., message: _Optional[str] = ..., field: _Optional[str] = ..., code: _Optional[str] = ...) -> None: ...

class TensorPart(_message.Message):
    __slots__ = ("dtype", "storage_dtype", "shape", "step", "content", "finished")
    DTYPE_FIELD_NUMBER: _ClassVar[int]
    STORAGE_DTYPE_FIELD_NUMBER: _ClassVar[int]
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    FINISHED_FIELD_NUMBER: _ClassVar[int]
    dtype: str
    storage_dtype: str
    shape: _containers.RepeatedScalarFieldContainer[int]
    step: int
    content: bytes
    finished: bool
    def __init__(self, dtype: _Optional[str] = ..., storage_dtype: _Optional[str] = ..., shape: _Optional[_Iterable[int]] = ..., step: _Optional[int] = ..., content: _Optional[bytes] = ..., finished: bool = ...) -> None: ...

class TensorStatistics(_message.Message):
    __slots__ = ("dtype", "shape", "step", "count", "min", "max", "mean", "abs_mean", "std", "zero_count", "negative_count", "positive_count", "nan_count", "negative_inf_count", "positive_inf_count")
    DTYPE_FIELD_NUMBER: _ClassVar[int]
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    MIN_FIELD_NUMBER: _ClassVar[int]
    MAX_FIELD_NUMBER: _ClassVar[int]
    MEAN_FIELD_NUMBER: _ClassVar[int]
    ABS_MEAN_FIELD_NUMBER: _ClassVar[int]
    STD_FIELD_NUMBER: _ClassVar[int]
    ZERO_COUNT_FIELD_NUMBER: _ClassVar[int]
    NEGATIVE_COUNT_FIELD_NUMBER: _ClassVar[int]
    POSITIVE_COUNT_FIELD_NUMBER: _ClassVar[int]
    NAN_COUNT_FIELD_NUMBER: _ClassVar[int]
    NEGATIVE_INF_COUNT_FIELD_NUMBER: _ClassVar[int]
    POSITIVE_INF_COUNT_FIELD_NUMBER: _ClassVar[int]
    dtype: str
    shape: _containers.RepeatedScalarFieldContainer[int]
    step: int
    count: int
    min: float
    max: float
    mean: float
    abs_mean: float
    std: float
    zero_count: int
    negative_count: int
    positive_count: int
    nan_count: int
    negative_inf_count: int
    positive_inf_count: int
    def __init__(self, dtype: _Optional[str] = ..., shape: _Optional[_Iterable[int]] = ..., step: _Optional[int] = ..., count: _Optional[int] = ..., min: _Optional[float] = ..., max: _Optional[float] = ..., mean: _Optional[float] = ..., abs_mean: _Optional[float] = ..., std: _Optional[float] = ..., zero_count: _Optional[int] = ..., negative_count: _Optional[int] = ..., positive_count: _Optional[int] = ..., nan_count: _Optional[int] = ..., negative_inf_count: _Optional[int] = ..., positive_inf_count: _Optional[int] = ...) -> None: ...

class TensorComparison(_message.Message):
    __slots__ = ("current", "previous", "difference", "changed_count", "update_ratio")
    CURRENT_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_FIELD_NUMBER: _ClassVar[int]
    DIFFERENCE_FIELD_NUMBER: _ClassVar[int]
    CHANGED_COUNT_FIELD_NUMBER: _ClassVar[int]
    UPDATE_RATIO_FIELD_NUMBER: _ClassVar[int]
    current: TensorStatistics
    previous: TensorStatistics
    difference: TensorStatistics
    changed_count: int
    update_ratio: float
    def __init__(self, current: _Optional[_Union[TensorStatistics, _Mapping]] = ..., previous: _Optional[_Union[TensorStatistics, _Mapping]] = ..., difference: _Optional[_Union[TensorStatistics, _Mapping]] = ..., changed_count: _Optional[int] = ..., update_ratio: _Optional[float] = ...) -> None: ...

class LookQuery(_message.Message):
    __slots__ = ("key", "of", "index", "histogram", "heatmap", "place", "beyond", "facts")
    class Of(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        CURRENT: _ClassVar[LookQuery.Of]
        PREVIOUS: _ClassVar[LookQuery.Of]
        DIFFERENCE: _ClassVar[LookQuery.Of]
    CURRENT: LookQuery.Of
    PREVIOUS: LookQuery.Of
    DIFFERENCE: LookQuery.Of
    KEY_FIELD_NUMBER: _ClassVar[int]
    OF_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    HISTOGRAM_FIELD_NUMBER: _ClassVar[int]
    HEATMAP_FIELD_NUMBER: _ClassVar[int]
    PLACE_FIELD_NUMBER: _ClassVar[int]
    BEYOND_FIELD_NUMBER: _ClassVar[int]
    FACTS_FIELD_NUMBER: _ClassVar[int]
    key: TensorKey
    of: LookQuery.Of
    index: str
    histogram: HistogramQuery
    heatmap: HeatmapQuery
    place: PlaceQuery
    beyond: BeyondQuery
    facts: FactsQuery
    def __init__(self, key: _Optional[_Union[TensorKey, _Mapping]] = ..., of: _Optional[_Union[LookQuery.Of, str]] = ..., index: _Optional[str] = ..., histogram: _Optional[_Union[HistogramQuery, _Mapping]] = ..., heatmap: _Optional[_Union[HeatmapQuery, _Mapping]] = ..., place: _Optional[_Union[PlaceQuery, _Mapping]] = ..., beyond: _Optional[_Union[BeyondQuery, _Mapping]] = ..., facts: _Optional[_Union[FactsQuery, _Mapping]] = ...) -> None: ...

class HistogramQuery(_message.Message):
    __slots__ = ("bins",)
    BINS_FIELD_NUMBER: _ClassVar[int]
    bins: int
    def __init__(self, bins: _Optional[int] = ...) -> None: ...

class HeatmapQuery(_message.Message):
    __slots__ = ("rows", "columns", "reduce")
    class Reduction(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        MEAN: _ClassVar[HeatmapQuery.Reduction]
        MIN: _ClassVar[HeatmapQuery.Reduction]
        MAX: _ClassVar[HeatmapQuery.Reduction]
        EXTREME: _ClassVar[HeatmapQuery.Reduction]
    MEAN: HeatmapQuery.Reduction
    MIN: HeatmapQuery.Reduction
    MAX: HeatmapQuery.Reduction
    EXTREME: HeatmapQuery.Reduction
    ROWS_FIELD_NUMBER: _ClassVar[int]
    COLUMNS_FIELD_NUMBER: _ClassVar[int]
    REDUCE_FIELD_NUMBER: _ClassVar[int]
    rows: int
    columns: int
    reduce: HeatmapQuery.Reduction
    def __init__(self, rows: _Optional[int] = ..., columns: _Optional[int] = ..., reduce: _Optional[_Union[HeatmapQuery.Reduction, str]] = ...) -> None: ...

class PlaceQuery(_message.Message):
    __slots__ = ("what", "after")
    class Sought(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        NONFINITE: _ClassVar[PlaceQuery.Sought]
        NAN: _ClassVar[PlaceQuery.Sought]
        INF: _ClassVar[PlaceQuery.Sought]
        MAX: _ClassVar[PlaceQuery.Sought]
        MIN: _ClassVar[PlaceQuery.Sought]
    NONFINITE: PlaceQuery.Sought
    NAN: PlaceQuery.Sought
    INF: PlaceQuery.Sought
    MAX: PlaceQuery.Sought
    MIN: PlaceQuery.Sought
    WHAT_FIELD_NUMBER: _ClassVar[int]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    what: PlaceQuery.Sought
    after: int
    def __init__(self, what: _Optional[_Union[PlaceQuery.Sought, str]] = ..., after: _Optional[int] = ...) -> None: ...

class BeyondQuery(_message.Message):
    __slots__ = ("threshold",)
    THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    threshold: float
    def __init__(self, threshold: _Optional[float] = ...) -> None: ...

class FactsQuery(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class TensorLook(_message.Message):
    __slots__ = ("histogram", "heatmap", "place", "beyond", "facts")
    HISTOGRAM_FIELD_NUMBER: _ClassVar[int]
    HEATMAP_FIELD_NUMBER: _ClassVar[int]
    PLACE_FIELD_NUMBER: _ClassVar[int]
    BEYOND_FIELD_NUMBER: _ClassVar[int]
    FACTS_FIELD_NUMBER: _ClassVar[int]
    histogram: Histogram
    heatmap: Heatmap
    place: Place
    beyond: Beyond
    facts: TensorFacts
    def __init__(self, histogram: _Optional[_Union[Histogram, _Mapping]] = ..., heatmap: _Optional[_Union[Heatmap, _Mapping]] = ..., place: _Optional[_Union[Place, _Mapping]] = ..., beyond: _Optional[_Union[Beyond, _Mapping]] = ..., facts: _Optional[_Union[TensorFacts, _Mapping]] = ...) -> None: ...

class Histogram(_message.Message):
    __slots__ = ("dtype", "step", "shape", "count", "low", "high", "start", "end", "counts", "nan_count", "negative_inf_count", "positive_inf_count")
    DTYPE_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    LOW_FIELD_NUMBER: _ClassVar[int]
    HIGH_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    COUNTS_FIELD_NUMBER: _ClassVar[int]
    NAN_COUNT_FIELD_NUMBER: _ClassVar[int]
    NEGATIVE_INF_COUNT_FIELD_NUMBER: _ClassVar[int]
    POSITIVE_INF_COUNT_FIELD_NUMBER: _ClassVar[int]
    dtype: str
    step: int
    shape: _containers.RepeatedScalarFieldContainer[int]
    count: int
    low: float
    high: float
    start: float
    end: float
    counts: _containers.RepeatedScalarFieldContainer[int]
    nan_count: int
    negative_inf_count: int
    positive_inf_count: int
    def __init__(self, dtype: _Optional[str] = ..., step: _Optional[int] = ..., shape: _Optional[_Iterable[int]] = ..., count: _Optional[int] = ..., low: _Optional[float] = ..., high: _Optional[float] = ..., start: _Optional[float] = ..., end: _Optional[float] = ..., counts: _Optional[_Iterable[int]] = ..., nan_count: _Optional[int] = ..., negative_inf_count: _Optional[int] = ..., positive_inf_count: _Optional[int] = ...) -> None: ...

class Heatmap(_message.Message):
    __slots__ = ("dtype", "step", "shape", "rows", "columns", "low", "high", "cells", "flags")
    DTYPE_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    COLUMNS_FIELD_NUMBER: _ClassVar[int]
    LOW_FIELD_NUMBER: _ClassVar[int]
    HIGH_FIELD_NUMBER: _ClassVar[int]
    CELLS_FIELD_NUMBER: _ClassVar[int]
    FLAGS_FIELD_NUMBER: _ClassVar[int]
    dtype: str
    step: int
    shape: _containers.RepeatedScalarFieldContainer[int]
    rows: int
    columns: int
    low: float
    high: float
    cells: bytes
    flags: bytes
    def __init__(self, dtype: _Optional[str] = ..., step: _Optional[int] = ..., shape: _Optional[_Iterable[int]] = ..., rows: _Optional[int] = ..., columns: _Optional[int] = ..., low: _Optional[float] = ..., high: _Optional[float] = ..., cells: _Optional[bytes] = ..., flags: _Optional[bytes] = ...) -> None: ...

class Place(_message.Message):
    __slots__ = ("position", "flat", "count", "value")
    POSITION_FIELD_NUMBER: _ClassVar[int]
    FLAT_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    position: _containers.RepeatedScalarFieldContainer[int]
    flat: int
    count: int
    value: str
    def __init__(self, position: _Optional[_Iterable[int]] = ..., flat: _Optional[int] = ..., count: _Optional[int] = ..., value: _Optional[str] = ...) -> None: ...

class Beyond(_message.Message):
    __slots__ = ("count", "of")
    COUNT_FIELD_NUMBER: _ClassVar[int]
    OF_FIELD_NUMBER: _ClassVar[int]
    count: int
    of: int
    def __init__(self, count: _Optional[int] = ..., of: _Optional[int] = ...) -> None: ...

class TensorFacts(_message.Message):
    __slots__ = ("finite", "first_nonfinite", "zero_slices", "at_min", "at_max")
    class ZeroSlices(_message.Message):
        __slots__ = ("axis", "zero", "of")
        AXIS_FIELD_NUMBER: _ClassVar[int]
        ZERO_FIELD_NUMBER: _ClassVar[int]
        OF_FIELD_NUMBER: _ClassVar[int]
        axis: int
        zero: int
        of: int
        def __init__(self, axis: _Optional[int] = ..., zero: _Optional[int] = ..., of: _Optional[int] = ...) -> None: ...
    FINITE_FIELD_NUMBER: _ClassVar[int]
    FIRST_NONFINITE_FIELD_NUMBER: _ClassVar[int]
    ZERO_SLICES_FIELD_NUMBER: _ClassVar[int]
    AT_MIN_FIELD_NUMBER: _ClassVar[int]
    AT_MAX_FIELD_NUMBER: _ClassVar[int]
    finite: bool
    first_nonfinite: _containers.RepeatedScalarFieldContainer[int]
    zero_slices: _containers.RepeatedCompositeFieldContainer[TensorFacts.ZeroSlices]
    at_min: int
    at_max: int
    def __init__(self, finite: bool = ..., first_nonfinite: _Optional[_Iterable[int]] = ..., zero_slices: _Optional[_Iterable[_Union[TensorFacts.ZeroSlices, _Mapping]]] = ..., at_min: _Optional[int] = ..., at_max: _Optional[int] = ...) -> None: ...

class ExecutionOrder(_message.Message):
    __slots__ = ("total", "nodes")
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    total: int
    nodes: _containers.RepeatedCompositeFieldContainer[ExecutedNode]
    def __init__(self, total: _Optional[int] = ..., nodes: _Optional[_Iterable[_Union[ExecutedNode, _Mapping]]] = ...) -> None: ...

class ExecutedNode(_message.Message):
    __slots__ = ("graph_name", "node_name", "occurrence")
    GRAPH_NAME_FIELD_NUMBER: _ClassVar[int]
    NODE_NAME_FIELD_NUMBER: _ClassVar[int]
    OCCURRENCE_FIELD_NUMBER: _ClassVar[int]
    graph_name: str
    node_name: str
    occurrence: int
    def __init__(self, graph_name: _Optional[str] = ..., node_name: _Optional[str] = ..., occurrence: _Optional[int] = ...) -> None: ...

class NodeAttributes(_message.Message):
    __slots__ = ("step", "attribute")
    STEP_FIELD_NUMBER: _ClassVar[int]
    ATTRIBUTE_FIELD_NUMBER: _ClassVar[int]
    step: int
    attribute: _containers.RepeatedCompositeFieldContainer[AttributeProto]
    def __init__(self, step: _Optional[int] = ..., attribute: _Optional[_Iterable[_Union[AttributeProto, _Mapping]]] = ...) -> None: ...

class Frames(_message.Message):
    __slots__ = ("frames",)
    FRAMES_FIELD_NUMBER: _ClassVar[int]
    frames: _containers.RepeatedCompositeFieldContainer[StackFrame]
    def __init__(self, frames: _Optional[_Iterable[_Union[StackFrame, _Mapping]]] = ...) -> None: ...

class StackFrame(_message.Message):
    __slots__ = ("file", "line", "function", "text", "user", "locals")
    FILE_FIELD_NUMBER: _ClassVar[int]
    LINE_FIELD_NUMBER: _ClassVar[int]
    FUNCTION_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    USER_FIELD_NUMBER: _ClassVar[int]
    LOCALS_FIELD_NUMBER: _ClassVar[int]
    file: str
    line: int
    function: str
    text: str
    user: bool
    locals: _containers.RepeatedCompositeFieldContainer[LocalVariable]
    def __init__(self, file: _Optional[str] = ..., line: _Optional[int] = ..., function: _Optional[str] = ..., text: _Optional[str] = ..., user: bool = ..., locals: _Optional[_Iterable[_Union[LocalVariable, _Mapping]]] = ...) -> None: ...

class LocalVariable(_message.Message):
    __slots__ = ("name", "type", "has_shape", "shape", "text")
    NAME_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    HAS_SHAPE_FIELD_NUMBER: _ClassVar[int]
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    name: str
    type: str
    has_shape: bool
    shape: _containers.RepeatedScalarFieldContainer[int]
    text: str
    def __init__(self, name: _Optional[str] = ..., type: _Optional[str] = ..., has_shape: bool = ..., shape: _Optional[_Iterable[int]] = ..., text: _Optional[str] = ...) -> None: ...

class WatchpointSet(_message.Message):
    __slots__ = ("revision", "watchpoints")
    REVISION_FIELD_NUMBER: _ClassVar[int]
    WATCHPOINTS_FIELD_NUMBER: _ClassVar[int]
    revision: int
    watchpoints: _containers.RepeatedCompositeFieldContainer[Watchpoint]
    def __init__(self, revision: _Optional[int] = ..., watchpoints: _Optional[_Iterable[_Union[Watchpoint, _Mapping]]] = ...) -> None: ...

class Watchpoint(_message.Message):
    __slots__ = ("id", "condition", "parameters", "base", "ops", "rules", "name", "enabled", "recommended")
    ID_FIELD_NUMBER: _ClassVar[int]
    CONDITION_FIELD_NUMBER: _ClassVar[int]
    PARAMETERS_FIELD_NUMBER: _ClassVar[int]
    BASE_FIELD_NUMBER: _ClassVar[int]
    OPS_FIELD_NUMBER: _ClassVar[int]
    RULES_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    ENABLED_FIELD_NUMBER: _ClassVar[int]
    RECOMMENDED_FIELD_NUMBER: _ClassVar[int]
    id: int
    condition: str
    parameters: _containers.RepeatedCompositeFieldContainer[WatchParameter]
    base: str
    ops: _containers.RepeatedScalarFieldContainer[str]
    rules: _containers.RepeatedCompositeFieldContainer[WatchRule]
    name: str
    enabled: bool
    recommended: bool
    def __init__(self, id: _Optional[int] = ..., condition: _Optional[str] = ..., parameters: _Optional[_Iterable[_Union[WatchParameter, _Mapping]]] = ..., base: _Optional[str] = ..., ops: _Optional[_Iterable[str]] = ..., rules: _Optional[_Iterable[_Union[WatchRule, _Mapping]]] = ..., name: _Optional[str] = ..., enabled: bool = ..., recommended: bool = ...) -> None: ...

class WatchRule(_message.Message):
    __slots__ = ("path", "on", "scope", "graph_name")
    PATH_FIELD_NUMBER: _ClassVar[int]
    ON_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    GRAPH_NAME_FIELD_NUMBER: _ClassVar[int]
    path: str
    on: bool
    scope: bool
    graph_name: str
    def __init__(self, path: _Optional[str] = ..., on: bool = ..., scope: bool = ..., graph_name: _Optional[str] = ...) -> None: ...

class WatchParameter(_message.Message):
    __slots__ = ("name", "value", "hit", "actual")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    HIT_FIELD_NUMBER: _ClassVar[int]
    ACTUAL_FIELD_NUMBER: _ClassVar[int]
    name: str
    value: float
    hit: bool
    actual: float
    def __init__(self, name: _Optional[str] = ..., value: _Optional[float] = ..., hit: bool = ..., actual: _Optional[float] = ...) -> None: ...

class Hits(_message.Message):
    __slots__ = ("step", "revision", "hits", "warning", "finished")
    STEP_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    HITS_FIELD_NUMBER: _ClassVar[int]
    WARNING_FIELD_NUMBER: _ClassVar[int]
    FINISHED_FIELD_NUMBER: _ClassVar[int]
    step: int
    revision: int
    hits: _containers.RepeatedCompositeFieldContainer[Hit]
    warning: str
    finished: bool
    def __init__(self, step: _Optional[int] = ..., revision: _Optional[int] = ..., hits: _Optional[_Iterable[_Union[Hit, _Mapping]]] = ..., warning: _Optional[str] = ..., finished: bool = ...) -> None: ...

class Hit(_message.Message):
    __slots__ = ("graph_name", "node_name", "slot", "watchpoint_id", "parameters", "errors", "position")
    GRAPH_NAME_FIELD_NUMBER: _ClassVar[int]
    NODE_NAME_FIELD_NUMBER: _ClassVar[int]
    SLOT_FIELD_NUMBER: _ClassVar[int]
    WATCHPOINT_ID_FIELD_NUMBER: _ClassVar[int]
    PARAMETERS_FIELD_NUMBER: _ClassVar[int]
    ERRORS_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    graph_name: str
    node_name: str
    slot: int
    watchpoint_id: int
    parameters: _containers.RepeatedCompositeFieldContainer[WatchParameter]
    errors: _containers.RepeatedScalarFieldContainer[str]
    position: int
    def __init__(self, graph_name: _Optional[str] = ..., node_name: _Optional[str] = ..., slot: _Optional[int] = ..., watchpoint_id: _Optional[int] = ..., parameters: _Optional[_Iterable[_Union[WatchParameter, _Mapping]]] = ..., errors: _Optional[_Iterable[str]] = ..., position: _Optional[int] = ...) -> None: ...
